// What an ingest holds in memory: it reads and writes in batches, so the length of the invoice must not matter.
import type { Bench, Figure, Measurement } from '../figure.ts'
import { ingester, withInvoiceFile } from '../invoice.ts'

const BOUND_MB = 250

export default {
  name: 'billing-ingest-memory',
  measures:
    'the most memory (resident set) that a process of the service ever holds which ingests an invoice of 1,000,000 lines through the real provider client, and then replaces them all.',
  peer: `the bound of ${BOUND_MB} MB.`,
  unit: 'MB',
  bar: { atMost: 1 },
  measure: bench => withInvoiceFile((file, amount) => measure(bench, file, amount)),
} satisfies Figure

async function measure({ database, say }: Bench, file: string, amount: string): Promise<Measurement> {
  const worker = await ingester(await database(), file, amount)
  const peaks: number[] = []
  for (const anew of [true, false]) {
    const { peakBytes } = await worker.ask({ anew })
    peaks.push(peakBytes / 1e6)
    say(`after ingest ${peaks.length}: ${peaks.at(-1)!.toFixed(0)} MB`)
  }
  await worker.stop()
  return {
    ours: peaks.at(-1)!,
    peer: BOUND_MB,
    details: [
      'Node’s own limits are as the service is started with; the process is given no option to keep its heap small.',
      '',
      '| After | Peak so far, MB |',
      '|---|---:|',
      ...['the first ingest', 'the second, which replaces the lines'].map(
        (after, index) => `| ${after} | ${peaks[index]!.toFixed(0)} |`,
      ),
    ],
  }
}
