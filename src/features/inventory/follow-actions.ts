// Follows the provider's list of actions: what they were for is looked at again, and kinds that have no actions are listed in
// turn. All of it together stays below a quarter of the rate limit, and stops at once where others need the provider.
import type { Deps } from '../../deps.ts'
import {
  type CallOptions,
  type Kind,
  kindNames,
  type Provider,
  type ProviderAction,
  ProviderBusyError,
  ProviderError,
  sourceCount,
} from '../../integrations/digitalocean/index.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun } from '../../kernel/queue/queues.ts'
import { actionsSince } from './actions-since.ts'
import { changesKind, KINDS_WITH_ACTIONS, planLooks } from './feed-plan.ts'
import {
  claimFeed,
  type KindTurn,
  keepOpen,
  kindTurns,
  makeDue,
  moveFeed,
  noteFeedError,
  noteTurn,
  openActions,
  putOffTurn,
  sweptNow,
} from './feed-store.ts'
import { type Looking, lookAtKind, lookAtResource, type Seen, type SeenKind } from './look-again.ts'
import { lookAtProjects } from './look-at-projects.ts'
import { PLACES_AFTER_MS, retryAfterPartial, turnAfter } from './look-budget.ts'
import { openSpending, type Purpose } from './look-spending.ts'
import { PROJECTS } from './sync-run.ts'

/** So that what was done is seen within 15 seconds, the look itself included. */
export const FOLLOW_EVERY_MS = 12_000
/** Two workers' timers are not in step: the later of them finds the look just made. */
const AT_MOST_EVERY_MS = 8_000
/** A look that has listed for so long leaves the other kinds for the next, which is due to follow the actions. */
const TURNS_FOR_MS = 8_000
/** With the next look, and the listing itself, that is a minute and a half. */
const WAITED_LONG_MS = 66_000
/** More actions than these pages hold since the last look are a gap. */
const MOST_PAGES = 5
/** Actions that were under way and are no longer on the pages read, asked for one by one. */
const MOST_SINGLE = 10
/** An action whose kind could not be listed is followed again, as long as that kind was listed not much longer ago. */
const FOLLOWED_FOR_MS = 180_000
/** The projects' lists take turns with the kinds: they say whose a new resource is. */
const TAKING_TURNS = [...kindNames, PROJECTS]

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
  const { db, clock, providers } = deps
  const provider = providers.for('cloud_sync_fast')
  if (provider.absent) return null
  const position = await claimFeed(db, clock.now(), AT_MOST_EVERY_MS)
  if (!position) return null
  const round = createRound(deps, provider, position.newest_id, signal)
  try {
    if (await round.mayAsk()) await follow(round, position.newest_id)
    await takeTurns(round)
  } catch (error) {
    signal.throwIfAborted()
    await noteFeedError(db, reasonOf(error))
    log.warn({ error: reasonOf(error) }, 'the provider’s actions could not be followed')
  } finally {
    await round.looking.spending.settle()
    round.followed.requests = round.looking.spending.requests()
  }
  return round.followed
}

interface Round {
  deps: Deps
  provider: Provider
  looking: Looking
  /** How the provider is asked. */
  call: CallOptions
  followed: Followed
  began: number
  /** Whether this many requests may leave now; asked before each look. */
  mayAsk(requests?: number, what?: Purpose): Promise<boolean>
  saw(seen: Seen): void
  /** Whether something new was found that has no project yet. */
  placeless: boolean
  /** Actions that were under way at the last look. */
  open: Set<number>
}

function createRound(deps: Deps, provider: Provider, newestId: number | null, signal: AbortSignal): Round {
  const followed: Followed = { actions: 0, gap: false, requests: 0, listed: [], gaveWay: false, changed: [] }
  const spending = openSpending(deps, provider)
  const call = { signal, counted: spending.counted }
  const open = new Set<number>()
  const actionsNow = async () => {
    if (!spending.mayGoOn()) return looking.actions
    const since = await actionsSince(provider, { newestId, open }, call)
    return [...looking.actions.filter(({ id }) => !since.some(each => each.id === id)), ...since]
  }
  const looking: Looking = { provider, signal, spending, actions: [], actionsNow }
  return {
    deps,
    provider,
    looking,
    call,
    followed,
    began: deps.clock.now().getTime(),
    placeless: false,
    open,
    async mayAsk(requests = 1, what = 'following') {
      const may = await spending.may(requests, what)
      if (!may) followed.gaveWay = true
      return may
    },
    saw({ changed, placeless }) {
      followed.changed.push(...changed)
      this.placeless ||= placeless
    },
  }
}

async function follow(round: Round, newestId: number | null): Promise<void> {
  const { deps, provider, looking, followed } = round
  const { db, clock } = deps
  const now = clock.now()
  const open = await openActions(db, now)
  for (const id of open) round.open.add(id)
  const read = await readBack(round, newestId)
  const fresh = newestId === null ? [] : read.actions.filter(({ id }) => id > newestId)
  const known = new Map(read.actions.map(action => [action.id, action]))
  const ended: ProviderAction[] = []
  const forgotten: number[] = []
  let asked = 0
  for (const id of open) {
    let action = known.get(id) ?? null
    if (!action) {
      if (asked >= MOST_SINGLE || !(await round.mayAsk())) continue
      asked += 1
      action = await provider.actionById(id, round.call)
      if (!action) forgotten.push(id)
    }
    if (action && !action.underWay) ended.push(action)
  }
  const actions = [...fresh, ...ended]
  looking.actions = actions
  followed.actions = actions.length
  followed.gap = read.gap

  const turns = await transaction(db, tx => kindTurns(tx, kindNames, now.toISOString()))
  const plan = planLooks(actions, new Map(turns.map(({ kind, pages }) => [kind, pages])))
  const due = new Set<Kind>([...plan.kinds, ...(read.gap ? KINDS_WITH_ACTIONS : [])])
  const readOne = (kind: Kind, provider_id: string, gone: boolean) =>
    lookAtResource(deps, looking, kind, provider_id, gone).catch(error => {
      if (!(error instanceof ProviderError) || error instanceof ProviderBusyError) throw error
      // One answer that cannot be read must not hold up the others.
      return null
    })
  for (const { kind, provider_id, gone } of plan.resources) {
    // What cannot be read now is listed as soon as it can be.
    if ((due.has(kind) && !gone) || !(await round.mayAsk())) due.add(kind)
    else {
      const seen = await readOne(kind, provider_id, gone)
      if (seen) round.saw(seen)
      else due.add(kind)
    }
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
  for (const turn of turns) if (isOverdue(turn, now)) await takeTurn(round, turn, 'following')
  // Those before the turn of others: somebody did something there just now.
  const unread: Kind[] = []
  for (const turn of turns) {
    const kind = turn.kind as Kind
    if (!due.has(kind) || (await takeTurn(round, turn, 'following')) === 'whole') continue
    const wholeAgo = turn.looked_at === null ? Infinity : now.getTime() - Date.parse(turn.looked_at)
    if (wholeAgo < FOLLOWED_FOR_MS) unread.push(kind)
  }
  // They are followed once more: otherwise nobody would know, when it is listed at last, what made its changes.
  const again = actions.filter(action => unread.some(kind => changesKind(action, kind)))
  await keepOpen(
    db,
    now.toISOString(),
    again.map(({ id }) => id),
  )
}

/**
 * Of a kind without actions nobody hears otherwise: where much is done, what actions make due would use up the minute, and a
 * change of such a kind be seen later than a minute and a half after it.
 */
const isOverdue = ({ kind, due, looked_at }: KindTurn, now: Date): boolean =>
  due &&
  looked_at !== null &&
  now.getTime() - Date.parse(looked_at) >= WAITED_LONG_MS &&
  !KINDS_WITH_ACTIONS.includes(kind as Kind)

/** From the newest back to where it was read before. */
async function readBack(
  { provider, call, mayAsk }: Round,
  newestId: number | null,
): Promise<{ actions: ProviderAction[]; gap: boolean }> {
  const actions: ProviderAction[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    if (page > 1 && !(await mayAsk())) return { actions, gap: true }
    const read = await readSurely(() => provider.actionsPage(page, call), mayAsk)
    actions.push(...read.actions)
    if (newestId === null) return { actions, gap: false }
    if (read.actions.some(({ id }) => id <= newestId)) return { actions, gap: false }
    // To the end without having met what was known: the provider's list has lost something, or there was none.
    if (!read.more) return { actions, gap: newestId > 0 }
  }
  return { actions, gap: true }
}

/** An answer that makes no sense is asked for again: the next look is too late for what was just done. */
async function readSurely<T>(read: () => Promise<T>, mayAsk: Round['mayAsk']): Promise<T> {
  for (let left = 2; ; left--) {
    try {
      return await read()
    } catch (error) {
      const again = error instanceof ProviderError && !(error instanceof ProviderBusyError) && left > 0
      if (!again || !(await mayAsk())) throw error
    }
  }
}

/** The projects' lists first: what is new has its place then. Then the kind that has waited longest. */
async function takeTurns(round: Round): Promise<void> {
  const { deps, followed, began } = round
  const { db, clock } = deps
  const at = clock.now().toISOString()
  const turns = await transaction(db, tx => kindTurns(tx, TAKING_TURNS, at))
  const projects = turns.find(({ kind }) => kind === PROJECTS)!
  for (const turn of [projects, ...turns.filter(each => each !== projects)]) {
    if (!turn.due || followed.listed.includes(turn.kind)) continue
    if (clock.now().getTime() - began > TURNS_FOR_MS) break
    // A sweep that is listing it does the same, and better.
    if ((await sweptNow(db)).has(turn.kind)) continue
    await takeTurn(round, turn, 'other')
  }
  if (round.placeless) await makeDue(db, [PROJECTS], at, PLACES_AFTER_MS)
}

/** Whole, in part, or left for later because others need the provider. */
type Outcome = 'whole' | 'partial' | 'left'

/** What was listed in part is tried once more: another answer may be better, and the next turn is a while off. */
async function takeTurn(round: Round, turn: KindTurn, what: Purpose): Promise<Outcome> {
  const first = await list(round, turn, what)
  return first === 'partial' ? list(round, turn, what) : first
}

async function list(round: Round, turn: KindTurn, what: Purpose): Promise<Outcome> {
  const { deps, looking, followed } = round
  const { db, clock } = deps
  const { kind, looked_at } = turn
  if (!(await round.mayAsk(turn.pages, what))) return 'left'
  const seen: SeenKind =
    kind === PROJECTS
      ? await lookAtProjects(deps, looking)
      : await lookAtKind(deps, looking, kind as Kind, what)
  round.saw(seen)
  await looking.spending.settle()
  const now = clock.now()
  const after = (ms: number) => new Date(now.getTime() + ms).toISOString()
  if (seen.gaveWay) {
    followed.gaveWay = true
    // It is longer than was known; otherwise it stays due.
    if (seen.pages > turn.pages) await putOffTurn(db, kind, after(turnAfter(seen.pages)), seen.pages)
    return 'left'
  }
  // What an empty listing costs is not the account's doing.
  const pages = kind === PROJECTS ? seen.pages : seen.pages - sourceCount(kind as Kind) + 1
  if (seen.whole)
    await noteTurn(db, kind, { at: now.toISOString(), pages: seen.pages, dueAt: after(turnAfter(pages)) })
  else
    await putOffTurn(
      db,
      kind,
      after(retryAfterPartial(looked_at === null ? null : now.getTime() - Date.parse(looked_at))),
    )
  if (!followed.listed.includes(kind)) followed.listed.push(kind)
  return seen.whole ? 'whole' : 'partial'
}
