// A sweep of a hundred times as many resources may cost a hundred times as much, not more.
import type { Bench, Figure, Measurement } from '../figure.ts'
import { MILLION, millionResources, TENANTS } from '../million-resources.ts'
import { median } from '../rounds.ts'
import { settle, sweeper } from '../sweep.ts'

const SIZES = [10_000, 100_000, MILLION]
const ROUNDS = 2
/** Sweeps before the first that counts, so that the compiler has seen as many rows in each process. */
const WARM_UP_ROWS = 200_000
/** Sweeps of a size in one round: a short one is more easily disturbed. */
const TIMES = new Map([
  [10_000, 8],
  [100_000, 2],
])

export default {
  name: 'inventory-sweep-growth',
  measures: 'time for one row of an unchanged sweep over 1,000,000 droplets.',
  peer: 'the same over 10,000 droplets.',
  unit: 'µs/row',
  bar: { atMost: 1.5 },
  measure,
} satisfies Figure

async function measure(bench: Bench): Promise<Measurement> {
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
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { droplets, sweep, perRow } of sizes) {
      for (let time = 0; time < (TIMES.get(droplets) ?? 1); time++) perRow.push(await sweep())
      say(`round ${round}, ${droplets.toLocaleString('en-US')} rows: ${perRow.at(-1)!.toFixed(0)} µs/row`)
    }
  }
  for (const { worker } of sizes) await worker.stop()
  const [smallest, , largest] = sizes.map(({ perRow }) => median(perRow))
  return {
    ours: largest!,
    peer: smallest!,
    bySize: sizes.map(({ droplets, perRow }) => ({ size: droplets, cost: median(perRow) })),
    details: [
      `${ROUNDS} rounds over all sizes in turn, after sweeps over ${WARM_UP_ROWS.toLocaleString('en-US')} rows of warming up, a \`VACUUM ANALYZE\` before each sweep; medians. The million rows belong to ${TENANTS.toLocaleString('en-US')} tenants. PostgreSQL runs with its default settings for memory: 10,000 droplets fit into its shared buffers, the others do not.`,
      '',
      '| Rows | Median, µs/row | Every sweep, µs/row |',
      '|---:|---:|---|',
      ...sizes.map(
        ({ droplets, perRow }) =>
          `| ${droplets.toLocaleString('en-US')} | ${median(perRow).toFixed(1)} | ${perRow.map(value => value.toFixed(0)).join(', ')} |`,
      ),
    ],
  }
}
