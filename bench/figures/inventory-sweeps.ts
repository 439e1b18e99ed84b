// What a sweep costs beside the least that its writing could cost, how that grows with the resources, and what it holds in
// memory. Ours and the hand-written merge run on databases of their own over the same generated droplets; both must leave
// the same rows and events, which is checked after everything is measured.
import { deepStrictEqual } from 'node:assert'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { query } from '../database.ts'
import {
  alternate,
  type Bench,
  type Figure,
  type Measurement,
  median,
  medians,
  roundsTable,
  table,
  thousands,
} from '../figure.ts'
import { serviceEnvironment, startWorker } from '../process.ts'
import type { Merged } from '../processes/hand-written-merge.ts'
import type { Sweep, Swept } from '../processes/inventory-sweep.ts'
import type { Change, Where } from '../processes/sandbox-provider.ts'

const DROPLETS = 100_000
const WARM_UP = 2
const ROUNDS = 5

export const sweeper = (url: string, droplets: number, more: Record<string, string> = {}) =>
  startWorker<Sweep, Swept>('inventory-sweep.ts', {
    ...serviceEnvironment(url),
    DROPLETS: String(droplets),
    ...more,
  })

/** As after autovacuum, which would otherwise start in the middle of some round. */
export const settle = (url: string) => query(url, 'vacuum analyze cloud_resources')

export const MILLION = 1_000_000
export const TENANTS = 1_000

/** A million resources in a thousand tenants, put there by the service itself: its first sweep of an account so large. */
export const millionResources = ({ filled, say }: Bench): Promise<string> =>
  filled('million-resources', async url => {
    say('filling a database with 1,000,000 droplets in 1,000 tenants; this takes some minutes')
    const worker = sweeper(url, MILLION, { TENANTS: String(TENANTS) })
    const { ms } = await worker.ask({ changePercent: 0 })
    await worker.stop()
    say(`filled: ${(ms / 1000).toFixed(0)} s`)
    await settle(url)
  })

const besideMerge = (name: string, changed: string, sweep: Sweep): Figure => ({
  name,
  measures: `a whole sweep over 100,000 known droplets, ${changed}: mapped, fingerprinted, written in batches, struck, finished.`,
  peer: 'the same merge written by hand as one SQL statement (insert, update, touch, strike, delete, events) over the same rows, staged by COPY into a temporary table. The rows are handed to it mapped and fingerprinted; ours does both in its time.',
  unit: 'ms',
  bar: { atMost: 1.5 },
  measure: bench => measureSweep(bench, sweep),
})

async function measureSweep({ database, say }: Bench, sweep: Sweep): Promise<Measurement> {
  const sides = { ours: await database(), peer: await database() }
  say(`filling two databases with ${thousands(DROPLETS)} droplets each`)
  // Both are filled by the service, so that neither starts with a better laid out table.
  const ours = sweeper(sides.ours, DROPLETS)
  await ours.ask({ changePercent: 0 })
  const filler = sweeper(sides.peer, DROPLETS)
  await filler.ask({ changePercent: 0 })
  await filler.stop()
  const peer = startWorker<Sweep, Merged>('hand-written-merge.ts', {
    DATABASE_URL: sides.peer,
    DROPLETS: String(DROPLETS),
  })

  const oursOnce = async () => {
    await settle(sides.ours)
    return ours.ask(sweep)
  }
  const peerOnce = async () => {
    await settle(sides.peer)
    return peer.ask(sweep)
  }
  say(`warming both up, then ${ROUNDS} rounds`)
  await alternate(WARM_UP, oursOnce, peerOnce)
  const rounds = await alternate(ROUNDS, oursOnce, peerOnce)
  await ours.stop()
  await peer.stop()
  deepStrictEqual(await contentOf(sides.ours), await contentOf(sides.peer))

  const both = medians(
    rounds,
    swept => swept.ms,
    merged => merged.ms,
  )
  const statementMs = median(rounds.map(round => round.peer.statementMs))
  return {
    ...both,
    details: [
      `${ROUNDS} alternating rounds after ${WARM_UP} of warming up, a \`VACUUM ANALYZE\` before each; medians. Making the provider’s pages is not in ours; mapping, fingerprinting, the ledger’s progress, the brake and finishing the run are. PostgreSQL shares the machine with both.`,
      '',
      `The peer’s statement alone, its rows being in the database already: ${statementMs.toFixed(0)} ms, so ours ÷ that: ${(both.ours / statementMs).toFixed(2)}.`,
      '',
      ...roundsTable(
        ['Ours, ms', 'Peer, ms', 'Ratio', 'Of the peer’s, its statement, ms'],
        rounds.map(({ ours, peer }) => [ours.ms, peer.ms, (ours.ms / peer.ms).toFixed(2), peer.statementMs]),
      ),
    ],
  }
}

/** Everything but the ids and times, which each side makes for itself. */
function contentOf(url: string): Promise<unknown[]> {
  return query(
    url,
    `select md5(string_agg(concat_ws('|', r.provider_id, r.name, r.region, r.status, r.tags, r.attrs, r.fingerprint,
        r.stale_strike_count, r.deleted_at is null), e'\\n' order by r.provider_id)) as resources,
      (select md5(string_agg(concat_ws('|', o.provider_id, e.kind, e.changes), e'\\n' order by o.provider_id, e.id))
        from cloud_resource_events e join cloud_resources o on o.id = e.resource_id) as events
     from cloud_resources r`,
  )
}

const SIZES = [10_000, DROPLETS, MILLION]
const GROWTH_ROUNDS = 2
/** Sweeps before the first that counts, so that the compiler has seen as many rows in each process. */
const WARM_UP_ROWS = 200_000
/** Sweeps of a size in one round: a short one is more easily disturbed. */
const TIMES = new Map([
  [10_000, 8],
  [DROPLETS, 2],
])

const growth: Figure = {
  name: 'inventory-sweep-growth',
  measures: 'time for one row of an unchanged sweep over 1,000,000 droplets.',
  peer: 'the same over 10,000 droplets.',
  unit: 'µs/row',
  bar: { atMost: 1.5 },
  measure: measureGrowth,
}

async function measureGrowth(bench: Bench): Promise<Measurement> {
  const { database, say } = bench
  const sizes = []
  for (const droplets of SIZES) {
    const url = droplets === MILLION ? await millionResources(bench) : await database()
    const worker = sweeper(url, droplets)
    const sweep = async () => {
      await settle(url)
      return (1000 * (await worker.ask({ changePercent: 0 })).ms) / droplets
    }
    if (droplets < MILLION) await worker.ask({ changePercent: 0 })
    for (let rows = 0; rows < WARM_UP_ROWS && droplets < MILLION; rows += droplets) await sweep()
    sizes.push({ droplets, worker, sweep, perRow: [] as number[] })
  }
  for (let round = 1; round <= GROWTH_ROUNDS; round++) {
    for (const { droplets, sweep, perRow } of sizes) {
      for (let time = 0; time < (TIMES.get(droplets) ?? 1); time++) perRow.push(await sweep())
      say(`round ${round}, ${thousands(droplets)} rows: ${perRow.at(-1)!.toFixed(0)} µs/row`)
    }
  }
  for (const { worker } of sizes) await worker.stop()
  const [smallest, , largest] = sizes.map(({ perRow }) => median(perRow))
  return {
    ours: largest!,
    peer: smallest!,
    bySize: sizes.map(({ droplets, perRow }) => ({ size: droplets, cost: median(perRow) })),
    details: [
      `${GROWTH_ROUNDS} rounds over all sizes in turn, after sweeps over ${thousands(WARM_UP_ROWS)} rows of warming up, a \`VACUUM ANALYZE\` before each sweep; medians. The million rows belong to ${thousands(TENANTS)} tenants. PostgreSQL runs with its default settings for memory: 10,000 droplets fit into its shared buffers, the others do not.`,
      '',
      ...table(
        ['Rows', 'Median, µs/row', 'Every sweep, µs/row'],
        sizes.map(({ droplets, perRow }) => [
          thousands(droplets),
          median(perRow).toFixed(1),
          perRow.map(value => value.toFixed(0)).join(', '),
        ]),
      ),
    ],
  }
}

const BOUND_MB = 300

const memory: Figure = {
  name: 'inventory-sweep-memory',
  measures:
    'the most memory (resident set) that a process of the service ever holds which sweeps 100,000 droplets for the first time, through the real provider client, and then again with one in a hundred changed.',
  peer: `the bound of ${BOUND_MB} MB.`,
  unit: 'MB',
  bar: { atMost: 1 },
  measure: measureMemory,
}

async function measureMemory({ database, say }: Bench): Promise<Measurement> {
  const provider = startWorker<Change, Where>('sandbox-provider.ts', { DROPLETS: String(DROPLETS) })
  const { url: PROVIDER_URL } = await provider.ask({ percent: 0 })
  const worker = sweeper(await database(), DROPLETS, { PROVIDER_URL, PROVIDER_TOKEN: SANDBOX_TOKEN })
  const peaks: [string, number][] = []
  for (const after of ['the first sweep', 'the second, 1 % changed', 'the third, 1 % changed']) {
    await provider.ask({ percent: peaks.length === 0 ? 0 : 1 })
    const { peakBytes } = await worker.ask({ changePercent: 0 })
    peaks.push([after, peakBytes / 1e6])
    say(`after ${after}: ${(peakBytes / 1e6).toFixed(0)} MB`)
  }
  await worker.stop()
  await provider.stop()
  return {
    ours: peaks.at(-1)![1],
    peer: BOUND_MB,
    details: [
      'Node’s own limits are as the service is started with; the process is given no option to keep its heap small.',
      '',
      ...table(['After', 'Peak so far, MB'], peaks),
    ],
  }
}

export default [
  besideMerge('inventory-sweep-unchanged', 'none of them changed', { changePercent: 0 }),
  besideMerge('inventory-sweep-changed', 'one in a hundred of them resized', { changePercent: 1 }),
  growth,
  memory,
]
