// What goes wrong meanwhile: a deck of faults, shuffled by the seed and spread over the time there is, and answers of
// commits that get lost for some seconds again and again.
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseProxy } from '../../support/database-proxy.ts'
import type { Cluster } from './cluster.ts'
import type { Nodes } from './nodes.ts'

export interface FaultCounts {
  freezes: number
  restarts: number
  failovers: number
  api_kills: number
  worker_kills: number
  cuts: number
  delays: number
}

type Fault = keyof FaultCounts

export interface FaultPlan {
  seconds: number
  counts: FaultCounts
  /** The probability of a commit's answer to be lost, while they are. */
  lost: number
  /** How much longer commits may be lost until enough was tried: on a busy machine little happens in the time given. */
  extraSeconds: number
  /** The longest freeze. */
  longestFreezeMs: number
}

interface Stage {
  cluster: Cluster
  proxy: DatabaseProxy
  nodes: Nodes
  random: () => number
  say: (line: string) => void
  /** Whether as much was tried as is required. */
  enough: () => boolean
}

/** Resolves when all of it has happened and everything is as it should be again; says what did happen. */
export async function causeFaults(stage: Stage, plan: FaultPlan): Promise<FaultCounts> {
  const { proxy, random, say, enough } = stage
  const happened: FaultCounts = {
    ...{ freezes: 0, restarts: 0, failovers: 0 },
    ...{ api_kills: 0, worker_kills: 0, cuts: 0, delays: 0 },
  }
  const until = performance.now() + plan.seconds * 1000
  const deck = shuffled(plan.counts, random)
  let over = false
  const losing = loseCommits(proxy, plan.lost, random, () => over)
  for (const [place, fault] of deck.entries()) {
    // What is left of the time, less what the faults themselves will take, is shared out among them.
    const share = (until - performance.now()) / (deck.length - place)
    await pause(Math.max(0, Math.min(share - TYPICAL_MS[fault], share * (0.4 + random()))))
    await cause(stage, fault, plan)
    happened[fault]++
    if (place % 20 === 19)
      say(
        `${place + 1} of ${deck.length} faults, ${proxy.counters.lostCommits + proxy.counters.lostAutocommits} lost commits`,
      )
  }
  await pause(Math.max(0, until - performance.now()))
  while (!enough() && performance.now() < until + plan.extraSeconds * 1000) await pause(200)
  over = true
  await losing
  return happened
}

/** What a fault takes by itself, about. */
const TYPICAL_MS: Record<Fault, number> = {
  freezes: 5_000,
  restarts: 2_500,
  failovers: 3_000,
  api_kills: 100,
  worker_kills: 100,
  cuts: 0,
  delays: 2_500,
}

/** Workers die first: what they held takes longest to be found. */
function shuffled(counts: FaultCounts, random: () => number): Fault[] {
  const deck = (Object.keys(counts) as Fault[]).flatMap(fault => Array<Fault>(counts[fault]).fill(fault))
  const ranked = deck.map(fault => ({ fault, rank: random() - (fault === 'worker_kills' ? 0.3 : 0) }))
  return ranked.sort((a, b) => a.rank - b.rank).map(({ fault }) => fault)
}

async function cause({ cluster, proxy, nodes, random }: Stage, fault: Fault, plan: FaultPlan): Promise<void> {
  if (fault === 'cuts') proxy.cut(random() < 0.3 ? 1 : 0.2 + 0.6 * random())
  else if (fault === 'api_kills') await nodes.kill('api', Math.floor(random() * 100))
  else if (fault === 'worker_kills') await nodes.kill('worker', Math.floor(random() * 100))
  else if (fault === 'restarts') await cluster.restart(random() * 1_500)
  else if (fault === 'failovers') await cluster.failOver(url => proxy.pointTo(url), random() < 0.5)
  else if (fault === 'delays') {
    proxy.delay(5, 20 + random() * 150)
    await pause(1_000 + random() * 3_000)
    proxy.delay(0)
  } else await freeze(proxy, random, plan.longestFreezeMs)
}

/** Mostly short; the longest are longer than anybody should wait for an answer, and new connections are served then. */
async function freeze(proxy: DatabaseProxy, random: () => number, longestMs: number): Promise<void> {
  const kind = random()
  const wanted =
    kind < 0.7
      ? 1_000 + random() * 2_500
      : kind < 0.92
        ? 4_000 + random() * 8_000
        : 15_000 + random() * 20_000
  const ms = Math.min(wanted, longestMs)
  proxy.freeze(ms < 12_000 && random() < 0.5 ? 'frozen' : 'served')
  await pause(ms)
  proxy.thaw(random() < 0.5 ? 'resume' : 'cut')
}

async function loseCommits(
  proxy: DatabaseProxy,
  probability: number,
  random: () => number,
  over: () => boolean,
): Promise<void> {
  while (!over()) {
    proxy.loseCommits(probability, random() < 0.5 ? 'commits' : 'commits and autocommits')
    await pause(2_000 + random() * 5_000)
    proxy.loseCommits(0)
    await pause(1_000 + random() * 3_000)
  }
}
