// What the ingest of a large invoice costs beside the least that parsing and copying it could cost.
import { deepStrictEqual } from 'node:assert'
import { query } from '../databases.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { ingester, LINES, withInvoiceFile } from '../invoice.ts'
import { alternate, median } from '../rounds.ts'
import { startWorker } from '../worker-process.ts'
import type { Copied } from '../workers/csv-copy.ts'

const ROUNDS = 3

export default {
  name: 'billing-ingest',
  measures:
    'the ingest of an invoice of 1,000,000 lines, each but one of them matched to one of 100,000 droplets and its tenant: downloaded to a file, hashed, parsed, checked, matched, written, summed up and reconciled in one transaction.',
  peer: 'the same file parsed by csv-parse (columns by name) and copied with COPY into the same table in one transaction, by hand. It checks, matches and sums up nothing, and so leaves three of the table’s eight indexes empty.',
  unit: 'lines/s',
  bar: { atLeast: 0.6 },
  measure: bench => withInvoiceFile((file, amount) => measure(bench, file, amount)),
} satisfies Figure

async function measure({ database, say }: Bench, file: string, amount: string): Promise<Measurement> {
  const sides = { ours: await database(), peer: await database() }
  const ours = await ingester(sides.ours, file, amount)
  // The peer's tables are made by the service too.
  await (await ingester(sides.peer, file, amount)).stop()
  const peer = startWorker<object, Copied>('csv-copy.ts', { DATABASE_URL: sides.peer, FILE: file })
  say(`${ROUNDS} rounds`)
  const rounds = await alternate<{ ms: number }>(
    ROUNDS,
    () => ours.ask({ anew: true }),
    () => peer.ask({}),
  )
  await ours.stop()
  await peer.stop()
  deepStrictEqual(await contentOf(sides.ours), await contentOf(sides.peer))
  const rate = (ms: number) => LINES / (ms / 1000)
  return {
    ours: median(rounds.map(round => rate(round.ours.ms))),
    peer: median(rounds.map(round => rate(round.peer.ms))),
    details: [
      `${ROUNDS} alternating rounds, each into an empty table after a checkpoint; medians. PostgreSQL shares the machine with both. Both sides must leave the same lines.`,
      '',
      '| Round | Ours, s | Peer, s | Ratio of rates |',
      '|---:|---:|---:|---:|',
      ...rounds.map(
        ({ ours, peer }, index) =>
          `| ${index + 1} | ${(ours.ms / 1000).toFixed(1)} | ${(peer.ms / 1000).toFixed(1)} | ${(peer.ms / ours.ms).toFixed(2)} |`,
      ),
    ],
  }
}

const contentOf = (url: string) =>
  query(
    url,
    `select count(*), sum(amount) as amount, sum(amount_minor) filter (where is_tax) as tax, sum(hours) as hours,
       min(start_at) as first, max(end_at) as last,
       md5(string_agg(md5(concat_ws('|', line_number, product, description, amount, project_name)), '' order by line_number)) as lines
     from cloud_cost_lines`,
  )
