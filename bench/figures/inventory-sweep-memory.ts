// What a sweep holds in memory: it reads and writes in batches, so the number of resources must not matter.
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { sweeper } from '../sweep.ts'
import { startWorker } from '../worker-process.ts'
import type { Change, Where } from '../workers/sandbox-provider.ts'

const DROPLETS = 100_000
const BOUND_MB = 300

export default {
  name: 'inventory-sweep-memory',
  measures:
    'the most memory (resident set) that a process of the service ever holds which sweeps 100,000 droplets for the first time, through the real provider client, and then again with one in a hundred changed.',
  peer: `the bound of ${BOUND_MB} MB.`,
  unit: 'MB',
  bar: { atMost: 1 },
  measure,
} satisfies Figure

async function measure({ database, say }: Bench): Promise<Measurement> {
  const provider = startWorker<Change, Where>('sandbox-provider.ts', { DROPLETS: String(DROPLETS) })
  const { url: PROVIDER_URL } = await provider.ask({ percent: 0 })
  const worker = sweeper(await database(), DROPLETS, { PROVIDER_URL, PROVIDER_TOKEN: SANDBOX_TOKEN })
  const peaks: number[] = []
  for (const percent of [0, 1, 1]) {
    await provider.ask({ percent })
    const { peakBytes } = await worker.ask({ changePercent: 0 })
    peaks.push(peakBytes / 1e6)
    say(`after sweep ${peaks.length}: ${peaks.at(-1)!.toFixed(0)} MB`)
  }
  await worker.stop()
  await provider.stop()
  return {
    ours: peaks.at(-1)!,
    peer: BOUND_MB,
    details: [
      'Node’s own limits are as by default; the process is given no option to keep its heap small.',
      '',
      '| After | Peak so far, MB |',
      '|---|---:|',
      ...['the first sweep', 'the second, 1 % changed', 'the third, 1 % changed'].map(
        (after, index) => `| ${after} | ${peaks[index]!.toFixed(0)} |`,
      ),
    ],
  }
}
