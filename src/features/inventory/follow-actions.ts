// Follows the provider's list of actions: what they were for is looked at again, and kinds that have no actions are listed in
// turn. All of it together stays below a quarter of the rate limit, and stops at once where others need the provider.
import type { Deps } from '../../deps.ts'
import {
  type Kind,
  kindNames,
  type Provider,
  type ProviderAction,
  ProviderBusyError,
  ProviderError,
} from '../../integrations/digitalocean/index.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun } from '../../kernel/queue/queues.ts'
import { KINDS_WITH_ACTIONS, planLooks } from './feed-plan.ts'
import {
  claimFeed,
  isSweeping,
  kindTurns,
  makeDue,
  moveFeed,
  noteFeedError,
  noteSpent,
  noteTurn,
  openActions,
  spentMinutes,
} from './feed-store.ts'
import { type Looking, lookAtKind, lookAtResource } from './look-again.ts'
import { lookBudget, lookShare, turnAfter } from './look-budget.ts'

export const FOLLOW_EVERY_MS = 15_000
/** Two workers' timers are not in step: the later of them finds the look just made. */
const AT_MOST_EVERY_MS = 10_000
/** More actions than these pages hold since the last look are a gap. */
const MOST_PAGES = 5
/** Actions that were under way and are no longer on the pages read, asked for one by one. */
const MOST_SINGLE = 10

export interface Followed {
  actions: number
  gap: boolean
  requests: number
  /** Kinds that were listed. */
  listed: string[]
  /** Whether some of it was left for later, for want of budget or because others need the provider. */
  gaveWay: boolean
  /** Ids of the resources that changed. */
  changed: string[]
}

/** Null when somebody else has just looked, or there is no provider. Trouble with the provider ends a look, and no more. */
export async function followActions(
  deps: Deps,
  { signal, log }: Pick<JobRun, 'signal' | 'log'>,
): Promise<Followed | null> {
  const { db, clock, providers, metrics } = deps
  const provider = providers.for('cloud_sync_fast')
  if (provider.absent) return null
  const position = await claimFeed(db, clock.now(), AT_MOST_EVERY_MS)
  if (!position) return null
  const budget = lookBudget(provider, await spentMinutes(db, clock.now()), clock.now())
  const round = createRound(deps, provider, budget, signal)
  try {
    if (round.mayAsk()) await follow(round, position.newest_id)
    await takeTurns(round)
  } catch (error) {
    signal.throwIfAborted()
    await noteFeedError(db, reasonOf(error))
    log.warn({ error: reasonOf(error) }, 'the provider’s actions could not be followed')
  } finally {
    const { requests } = round.followed
    await noteSpent(db, clock.now(), requests)
    metrics.lookRequests.inc(requests)
  }
  return round.followed
}

/** What part of the provider's rate limit looking takes, whichever process looked. */
export async function shareOfLooking({ db, clock, providers }: Deps): Promise<number> {
  const now = clock.now()
  return lookShare(providers.for('cloud_sync_fast'), await spentMinutes(db, now), now)
}

interface Round {
  deps: Deps
  provider: Provider
  looking: Looking
  followed: Followed
  /** Whether this many requests may leave now; asked before each look. */
  mayAsk(requests?: number): boolean
}

function createRound(deps: Deps, provider: Provider, budget: number, signal: AbortSignal): Round {
  const followed: Followed = { actions: 0, gap: false, requests: 0, listed: [], gaveWay: false, changed: [] }
  const counted = () => {
    followed.requests += 1
  }
  return {
    deps,
    provider,
    looking: { provider, signal, counted, actions: [] },
    followed,
    mayAsk(requests = 1) {
      const may = followed.requests + requests <= budget && provider.spare() >= requests
      if (!may) followed.gaveWay = true
      return may
    },
  }
}

async function follow(round: Round, newestId: number | null): Promise<void> {
  const { deps, provider, looking, followed } = round
  const { db, clock } = deps
  const now = clock.now()
  const open = await openActions(db, now)
  const read = await readBack(round, newestId)
  const fresh = newestId === null ? [] : read.actions.filter(({ id }) => id > newestId)
  const known = new Map(read.actions.map(action => [action.id, action]))
  const ended: ProviderAction[] = []
  const forgotten: number[] = []
  let asked = 0
  for (const id of open) {
    let action = known.get(id) ?? null
    if (!action) {
      if (asked >= MOST_SINGLE || !round.mayAsk()) continue
      asked += 1
      action = await provider.actionById(id, looking)
      if (!action) forgotten.push(id)
    }
    if (action && !action.underWay) ended.push(action)
  }
  const actions = [...fresh, ...ended]
  looking.actions = actions
  followed.actions = actions.length
  followed.gap = read.gap

  const turns = await transaction(db, tx => kindTurns(tx, kindNames, now.toISOString()))
  const plan = planLooks(actions, new Map(turns.map(({ kind, requests }) => [kind, requests])))
  const due = new Set<Kind>([...plan.kinds, ...(read.gap ? KINDS_WITH_ACTIONS : [])])
  const readOne = (kind: Kind, provider_id: string) =>
    lookAtResource(deps, looking, kind, provider_id).catch(error => {
      if (!(error instanceof ProviderError) || error instanceof ProviderBusyError) throw error
      // One answer that cannot be read must not hold up the others.
      due.add(kind)
      return []
    })
  for (const { kind, provider_id } of plan.resources) {
    // What cannot be read now is listed as soon as it can be.
    if (due.has(kind) || !round.mayAsk()) due.add(kind)
    else followed.changed.push(...(await readOne(kind, provider_id)))
  }
  const newest = read.actions.reduce((most, { id }) => Math.max(most, id), newestId ?? 0)
  await transaction(db, async tx => {
    await makeDue(tx, [...due], now.toISOString())
    await moveFeed(tx, now.toISOString(), {
      newestId: newest,
      open: (newestId === null ? read.actions : fresh).filter(({ underWay }) => underWay).map(({ id }) => id),
      ended: [...ended.map(({ id }) => id), ...forgotten],
    })
  })
  // Those before the turn of others: somebody did something there just now.
  for (const kind of due) await takeTurn(round, kind, turns.find(turn => turn.kind === kind)?.requests ?? 1)
}

/** From the newest back to where it was read before. */
async function readBack(
  { provider, looking, mayAsk }: Round,
  newestId: number | null,
): Promise<{ actions: ProviderAction[]; gap: boolean }> {
  const actions: ProviderAction[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    if (page > 1 && !mayAsk()) return { actions, gap: true }
    const read = await provider.actionsPage(page, looking)
    actions.push(...read.actions)
    if (newestId === null) return { actions, gap: false }
    if (read.actions.some(({ id }) => id <= newestId)) return { actions, gap: false }
    // To the end without having met what was known: the provider's list has lost something, or there was none.
    if (!read.more) return { actions, gap: newestId > 0 }
  }
  return { actions, gap: true }
}

/** Kinds that are due, the one that has waited longest first. */
async function takeTurns(round: Round): Promise<void> {
  const { db, clock } = round.deps
  const turns = await transaction(db, tx => kindTurns(tx, kindNames, clock.now().toISOString()))
  for (const { kind, requests, due } of turns) {
    if (!due || round.followed.listed.includes(kind)) continue
    // It lists them all the same, and better.
    if (await isSweeping(db)) return
    await takeTurn(round, kind as Kind, requests)
  }
}

async function takeTurn(round: Round, kind: Kind, cost: number): Promise<void> {
  const { deps, looking, followed } = round
  if (!round.mayAsk(cost)) return
  const before = followed.requests
  const { whole, changed } = await lookAtKind(deps, looking, kind)
  const requests = followed.requests - before
  const now = deps.clock.now()
  await noteTurn(deps.db, kind, {
    at: now.toISOString(),
    requests,
    dueAt: new Date(now.getTime() + turnAfter(requests, whole)).toISOString(),
  })
  followed.listed.push(kind)
  followed.changed.push(...changed)
}
