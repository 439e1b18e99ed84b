// Several processes of the service behind a proxy that does to their database connections what networks, crashes and
// failovers do, under a load of every operation that writes; and afterwards the questions that must all be answered with
// nothing.

import { setTimeout as pause } from 'node:timers/promises'
import { SANDBOX_TOKEN } from '../../../sandbox/provider/server.ts'
import { startDatabaseProxy } from '../../support/database-proxy.ts'
import type { Owner } from '../../support/lasting.ts'
import { randomFrom } from '../random.ts'
import { startSandbox } from '../sandbox.ts'
import { checkAnswers, checkChain, compareReplays } from './check-answers.ts'
import { checkEffects } from './check-effects.ts'
import { checkWork, isSettled, unsettled } from './check-work.ts'
import { type Client, createClient, type Intent, isUnknown } from './client.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { causeFaults, type FaultCounts, type FaultPlan } from './faults.ts'
import { type LoadOptions, startLoad } from './load.ts'
import { startNodes } from './nodes.ts'
import { prepare, startReceiver } from './prepare.ts'

export interface Required {
  writes: number
  lost_commits: number
  freezes: number
  restarts: number
  failovers: number
}

export interface CampaignOptions extends LoadOptions {
  faults: FaultPlan
  required: Required
  api: number
  workers: number
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

  const load = startLoad(client, world, options)
  // However it ends: stories would otherwise be told for ever to processes that are gone.
  owner.after(() => {
    load.finish()
    client.giveUp()
  })
  const lost = () => proxy.counters.lostCommits + proxy.counters.lostAutocommits
  const enough = () =>
    client.history.length >= options.required.writes && lost() >= options.required.lost_commits
  const stage = { cluster, proxy, nodes, random: randomFrom(seed + 100), say, enough }
  const happened = await causeFaults(stage, options.faults)
  say(`the faults are over after ${seconds(began)} s, ${client.history.length} writes`)
  load.finish()
  const settledAfter = await settle(client, cluster, load.finished, options.settleMs)
  say(settledAfter === null ? 'it did not settle' : `settled after ${settledAfter} s`)

  const { history } = client
  const figures = {
    writes: history.length,
    lost_commits: lost(),
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
    ...load.broken.map(reason => `a story broke: ${reason}`),
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

/** How long it took until everything asked for was answered and done; null: it was not. */
async function settle(client: Client, cluster: Cluster, telling: Promise<unknown>, withinMs: number) {
  const began = performance.now()
  const left = () => withinMs - (performance.now() - began)
  const told = telling.then(() => true)
  if (!(await Promise.race([told, pause(withinMs, false, { ref: false })]))) {
    client.giveUp()
    await telling
    return null
  }
  // Otherwise at its next minute.
  await client.send('runTask', { params: { name: 'audit_seal' }, refusals: ['already_running'] })
  while (!isSettled(await unsettled(cluster))) {
    if (left() < 0) return null
    await pause(500)
  }
  return seconds(began)
}

function checkRequired(figures: Required, required: Required): string[] {
  return (Object.keys(required) as (keyof Required)[])
    .filter(name => figures[name] < required[name])
    .map(name => `too little was tried: ${figures[name]} ${name}, ${required[name]} are required`)
}
