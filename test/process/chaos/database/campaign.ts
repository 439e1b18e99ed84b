// Several processes of the service behind a proxy that does to their database connections what networks, crashes and
// failovers do, under a load of every operation that writes; and afterwards the questions that must all be answered with
// nothing.
import { setTimeout as pause } from 'node:timers/promises'
import { SANDBOX_TOKEN } from '../../../../sandbox/provider/server.ts'
import { startDatabaseProxy } from '../../../support/database-proxy.ts'
import type { Owner } from '../../../support/process.ts'
import { randomFrom } from '../random.ts'
import { startSandbox } from '../sandbox.ts'
import { checkEffects } from './check-effects.ts'
import { checkWork, isSettled, unsettled } from './check-work.ts'
import { type Client, createClient, differing, type Intent, isUnknown, StoryOver } from './client.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { causeFaults, type FaultCounts, type FaultPlan } from './faults.ts'
import { type Nodes, startNodes } from './nodes.ts'
import { operationOf } from './operations.ts'
import { prepare, startReceiver } from './prepare.ts'
import { administering } from './stories-administering.ts'
import { running } from './stories-running.ts'
import { selling } from './stories-selling.ts'
import type { Story, Teller, World } from './story.ts'

export const STORIES: Record<string, Story> = { ...selling, ...running, ...administering }

export interface Required {
  writes: number
  lost_commits: number
  freezes: number
  restarts: number
  failovers: number
}

export interface CampaignOptions {
  seed: number
  faults: FaultPlan
  required: Required
  api: number
  workers: number
  /** Stories that are told at the same time. */
  clients: number
  /** The longest pause of a client between two stories. */
  paceMs: number
  /** After the faults, how long it may take until everything is done. */
  settleMs: number
  onProgress?: (line: string) => void
}

export interface CampaignReport extends Required, FaultCounts {
  seed: number
  seconds: number
  /** Operations that were done at least once. */
  operations: number
  done: number
  refused: number
  attempts: number
  /** Attempts after which nobody could know whether it was done. */
  unknown: number
  replays_compared: number
  /** Processes that gave up while they started, and were started again. */
  failed_starts: number
  settled_after_seconds: number | null
  /** What must not be, in words and figures; empty when all is well. */
  findings: string[]
}

export async function chaosDatabase(
  owner: Owner,
  options: CampaignOptions,
): Promise<{ report: CampaignReport; history: Intent[] }> {
  const began = performance.now()
  const { seed, onProgress: say = () => {} } = options
  const random = randomFrom(seed)
  const [cluster, sandbox, receiver] = await Promise.all([
    startCluster(owner),
    startSandbox(owner, 300),
    startReceiver(owner),
  ])
  const proxy = await startDatabaseProxy({ upstream: cluster.url(), random: randomFrom(seed + 1) })
  owner.after(() => proxy.close())
  const nodes = await startNodes(owner, {
    ...options,
    env: {
      DATABASE_URL: proxy.url(cluster.url()),
      DATABASE_POOL_SIZE: '8',
      DIGITALOCEAN_API_URL: sandbox.providerUrl,
      DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
      FINANCE_URL: sandbox.financeUrl,
      WEBHOOKS_ALLOW_PRIVATE: 'true',
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'error',
    },
  })
  const client = createClient(nodes.urls, random, 0.1)
  const world = await prepare(client, receiver)
  say(`prepared after ${seconds(began)} s`)

  let over = false
  const telling = Promise.all(
    Array.from({ length: options.clients }, (_, n) =>
      tellStories({ client, world, paceMs: options.paceMs, over: () => over }, randomFrom(seed + 2 + n)),
    ),
  )
  const stage = { cluster, proxy, nodes, random: randomFrom(seed + 100), say }
  const happened = await causeFaults(stage, options.faults)
  say(`the faults are over after ${seconds(began)} s, ${client.history.length} writes`)
  over = true
  const settledAfter = await settle(client, cluster, telling, options.settleMs)
  say(settledAfter === null ? 'it did not settle' : `settled after ${settledAfter} s`)

  const { lostCommits, lostAutocommits } = proxy.counters
  const { history } = client
  const figures = {
    writes: history.length,
    lost_commits: lostCommits + lostAutocommits,
    ...happened,
    done: history.filter(({ outcome }) => outcome === 'done').length,
    refused: history.filter(({ outcome }) => outcome === 'refused').length,
    attempts: history.reduce((sum, { attempts }) => sum + attempts.length, 0),
    unknown: history.reduce((sum, { attempts }) => sum + attempts.filter(isUnknown).length, 0),
  }
  const work = await checkWork(cluster, sandbox, receiver.events)
  const replays_compared = await compareReplays(client)
  const findings = [
    ...checkRequired(figures, options.required),
    ...checkAnswers(client, nodes),
    ...(await checkEffects(history, cluster.ask)),
    ...work,
    ...(await checkChain(client)),
    ...nodes.ended.map(words => `a process ended by itself: ${words.replaceAll('\n', ' ')}`),
  ]
  await nodes.stop()
  const operations = new Set(history.filter(({ outcome }) => outcome === 'done').map(each => each.operation))
  const report = {
    seed,
    seconds: seconds(began),
    operations: operations.size,
    ...figures,
    replays_compared,
    failed_starts: nodes.failedStarts(),
  }
  return { report: { ...report, settled_after_seconds: settledAfter, findings }, history }
}

const seconds = (since: number) => Math.round((performance.now() - since) / 100) / 10

const names = { given: 0 }
const held = new Set<string>()

interface Telling {
  client: Client
  world: World
  paceMs: number
  over: () => boolean
}

/** One story after the other, until the campaign ends. */
async function tellStories({ client, world, paceMs, over }: Telling, random: () => number): Promise<void> {
  const goOn = () => {
    if (over()) throw new StoryOver('the campaign ends')
  }
  const teller: Teller = {
    async send(...request) {
      goOn()
      return client.send(...request)
    },
    async get(path) {
      goOn()
      return client.get(path)
    },
    random,
    world,
    name: prefix => `${prefix}-${++names.given}`,
    async alone(what, work) {
      if (held.has(what)) return null
      held.add(what)
      const result = await work()
      // Not after a failure: nobody knows in which state it is.
      held.delete(what)
      return result
    },
  }
  const all = Object.values(STORIES)
  const total = all.reduce((sum, { weight }) => sum + weight, 0)
  for (;;) {
    let place = random() * total
    const story = all.find(({ weight }) => {
      place -= weight
      return place < 0
    })!
    try {
      await pause(random() * paceMs)
      await story.tell(teller)
    } catch (error) {
      if (!(error instanceof StoryOver)) throw error
      if (error.message.startsWith('the campaign')) return
    }
  }
}

/** How long it took until everything asked for was answered and done; null: it was not. */
async function settle(client: Client, cluster: Cluster, telling: Promise<unknown>, withinMs: number) {
  const began = performance.now()
  const left = () => withinMs - (performance.now() - began)
  await Promise.race([telling, pause(withinMs, undefined, { ref: false })])
  client.giveUp()
  await telling
  // Otherwise at its next minute.
  await client.send('runTask', { params: { name: 'audit_seal' }, refusals: ['already_running'] })
  while (!isSettled(await unsettled(cluster))) {
    if (left() < 0) return null
    await pause(500)
  }
  return seconds(began)
}

const MOST_REPLAYS = 300

/** A request that was answered says the same again to the end. */
async function compareReplays(client: Client): Promise<number> {
  const keyed = client.history.filter(
    ({ operation, outcome }) => outcome !== 'open' && operationOf(operation).keyed,
  )
  const every = Math.max(1, Math.ceil(keyed.length / MOST_REPLAYS))
  const chosen = keyed.filter((_, place) => place % every === 0)
  for (const intent of chosen) intent.other ??= differing(intent, await client.repeat(intent))
  return chosen.length
}

function checkRequired(figures: Required, required: Required): string[] {
  return (Object.keys(required) as (keyof Required)[])
    .filter(name => figures[name] < required[name])
    .map(name => `too little was tried: ${figures[name]} ${name}, ${required[name]} are required`)
}

function checkAnswers({ history, faults }: Client, nodes: Nodes): string[] {
  const open = history.filter(({ outcome }) => outcome === 'open')
  const refused = history.filter(({ unexpected }) => unexpected)
  const other = history.filter(intent => intent.other)
  const reason = (requestId?: string) => {
    const line = requestId && nodes.logged(requestId)
    return line ? (JSON.parse(line).err?.message ?? 'no reason') : 'not in the log'
  }
  return [
    ...counted(open, ({ operation }) => `writes were never answered: ${operation}`),
    ...counted(refused, ({ operation, answer, attempts }) => {
      const after = attempts.some(isUnknown) ? 'after an unknown outcome' : 'at once'
      return `writes were refused ${after}: ${operation} ${answer!.status} ${answer!.body?.code}`
    }),
    ...counted(
      other,
      ({ operation, answer, other: again }) =>
        `retries got another answer: ${operation} ${answer!.status}, then ${again!.status} ${again!.body?.code ?? ''}`,
    ),
    ...counted(faults, ({ operation, request_id }) => `answers 500: ${operation}: ${reason(request_id)}`),
  ]
}

function counted<T>(all: T[], words: (one: T) => string): string[] {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(words(one), (counts.get(words(one)) ?? 0) + 1)
  return [...counts].map(([what, count]) => `${count} ${what}`)
}

async function checkChain(client: Client): Promise<string[]> {
  const { data } = await client.get('/api/v1/admin/audit_log/verify')
  return data.intact ? [] : [`the audit log's chain is broken: ${data.reason}`]
}
