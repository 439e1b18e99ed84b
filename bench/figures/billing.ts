// An invoice of a million lines: what its ingest costs beside the least that parsing and copying it could cost, what it
// holds in memory, and what the last page of its lines costs beside the first.
import { deepStrictEqual } from 'node:assert'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invoiceCsv } from '../../sandbox/world/billing.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { query } from '../database.ts'
import {
  alternate,
  type Bench,
  type Figure,
  type Measurement,
  medians,
  roundsTable,
  table,
} from '../figure.ts'
import { bodyOf, HOW, type Page, rates, roundsUnderLoad } from '../load.ts'
import { serviceEnvironment, startService, startWorker } from '../process.ts'
import type { Ingest, Ingested } from '../processes/billing-ingest.ts'
import type { Copied } from '../processes/csv-copy.ts'

const LINES = 1_000_000
const ROUNDS = 3
const BOUND_MB = 250
const PATH = '/api/v1/billing/cost-lines?period=2026-09-15&limit=100'

const ingest: Figure = {
  name: 'billing-ingest',
  measures:
    'the ingest of an invoice of 1,000,000 lines, each but one of them matched to one of 100,000 droplets and its tenant: downloaded to a file, hashed, parsed, checked, matched, written, summed up and reconciled in one transaction.',
  peer: 'the same file parsed by csv-parse (columns by name) and copied with COPY into the same table in one transaction, by hand. It copies the same finished rows and so fills the same indexes, with whose each droplet is in its memory beforehand; it checks, looks up in the database and sums up nothing.',
  unit: 'lines/s',
  bar: { atLeast: 0.6 },
  measure: bench => withInvoiceFile((file, amount) => measureIngest(bench, file, amount)),
}

async function measureIngest({ database, say }: Bench, file: string, amount: string): Promise<Measurement> {
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
  const rate = ({ ms }: { ms: number }) => LINES / (ms / 1000)
  return {
    ...medians(rounds, rate, rate),
    details: [
      `${ROUNDS} alternating rounds, each into an empty table after a checkpoint; medians. PostgreSQL shares the machine with both. Both sides must leave the same lines.`,
      '',
      ...roundsTable(
        ['Ours, s', 'Peer, s', 'Ratio of rates'],
        rounds.map(({ ours, peer }) => [
          (ours.ms / 1000).toFixed(1),
          (peer.ms / 1000).toFixed(1),
          (peer.ms / ours.ms).toFixed(2),
        ]),
      ),
    ],
  }
}

const contentOf = (url: string) =>
  query(
    url,
    `select count(*), sum(amount) as amount, sum(amount_minor) filter (where is_tax) as tax, sum(hours) as hours,
       min(start_at) as first, max(end_at) as last,
       md5(string_agg(md5(concat_ws('|', line_number, product, description, amount, project_name, kind, name,
         (select r.name from cloud_resources r where r.id = resource_id), tenant_id, matched_by)), '' order by line_number)) as lines
     from cloud_cost_lines`,
  )

const memory: Figure = {
  name: 'billing-ingest-memory',
  measures:
    'the most memory (resident set) that a process of the service ever holds which ingests an invoice of 1,000,000 lines through the real provider client, and then replaces them all.',
  peer: `the bound of ${BOUND_MB} MB.`,
  unit: 'MB',
  bar: { atMost: 1 },
  measure: bench => withInvoiceFile((file, amount) => measureMemory(bench, file, amount)),
}

async function measureMemory({ database, say }: Bench, file: string, amount: string): Promise<Measurement> {
  const worker = await ingester(await database(), file, amount)
  const peaks: [string, number][] = []
  for (const after of ['the first ingest', 'the second, which replaces the lines']) {
    const { peakBytes } = await worker.ask({ anew: peaks.length === 0 })
    peaks.push([after, peakBytes / 1e6])
    say(`after ${after}: ${(peakBytes / 1e6).toFixed(0)} MB`)
  }
  await worker.stop()
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

const lastPage: Figure = {
  name: 'billing-cost-lines-last-page',
  measures: `the last page of \`GET ${PATH}\` over the 1,000,000 lines of that month, through the service.`,
  peer: 'the first page of the same listing, through the same process.',
  unit: 'requests/s',
  bar: { atLeast: 0.9 },
  measure: measureLastPage,
}

async function measureLastPage(bench: Bench): Promise<Measurement> {
  const url = await bench.filled('million-cost-lines', fill(bench))
  const service = await startService(url, { role: 'platform_admin' })
  const rows: { filter: string; last: number; first: number }[] = []
  for (const filter of ['', '&kind=droplet', '&matched=true']) {
    const first = { ...service, path: PATH + filter }
    const last = { ...service, path: `${first.path}&cursor=${await lastCursor(url, filter)}` }
    const pages = [await bodyOf<Page>(first), await bodyOf<Page>(last)]
    deepStrictEqual(
      pages.map(({ data, next_cursor }) => [data.length, next_cursor === null]),
      [
        [100, false],
        [100, true],
      ],
    )
    const { ours, peer } = rates(await roundsUnderLoad(bench, last, first))
    rows.push({ filter, last: ours, first: peer })
  }
  await service.server.stop()
  const { last, first } = rows[0]!
  return {
    ours: last,
    peer: first,
    details: [
      `${HOW} The figure is the first row; the others are filtered further.`,
      '',
      ...table(
        ['Filter', 'Last page, requests/s', 'First page, requests/s', 'Ratio'],
        rows.map(({ filter, last, first }) => [
          `\`period${filter}\``,
          last,
          first,
          (last / first).toFixed(2),
        ]),
      ),
    ],
  }
}

const fill =
  ({ say }: Bench) =>
  (url: string) =>
    withInvoiceFile(async (file, amount) => {
      say('ingesting an invoice of 1,000,000 lines')
      const worker = await ingester(url, file, amount)
      await worker.ask({ anew: true })
      await worker.stop()
      await query(url, 'vacuum analyze cloud_cost_lines')
    })

/** As following next_cursor through all the pages would give it. */
async function lastCursor(url: string, filter: string): Promise<string> {
  // The one line that is no droplet's is the last.
  const lines = filter === '' ? LINES : LINES - 1
  const where = filter === '' ? '' : "where kind = 'droplet'"
  const [row] = await query(
    url,
    `select period::text as period, id from cloud_cost_lines ${where} order by period, id offset $1 limit 1`,
    [lines - 101],
  )
  const { period, id } = row as { period: string; id: string }
  return Buffer.from(JSON.stringify(['cost_lines', period, id])).toString('base64url')
}

const DROPLETS = 100_000

/** Writes the file, hands it to `use`, and takes it away. */
async function withInvoiceFile<T>(use: (path: string, amount: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-invoice-'))
  try {
    const path = join(folder, 'invoice.csv')
    const world = generated({ droplets: DROPLETS, invoiceLines: LINES })
    const [invoice] = world.billing.invoices(new Date('2026-10-15T00:00:00Z'))
    const file = createWriteStream(path)
    let chunk = ''
    for (const line of invoiceCsv(invoice!, 'USD')) {
      chunk += line
      if (chunk.length < 1_000_000) continue
      if (!file.write(chunk)) await once(file, 'drain')
      chunk = ''
    }
    file.end(chunk)
    await once(file, 'finish')
    return await use(path, (invoice!.cents / 100).toFixed(2))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Ours, with the droplets in its inventory. */
async function ingester(url: string, file: string, amount: string) {
  const worker = startWorker<Ingest, Ingested>('billing-ingest.ts', {
    ...serviceEnvironment(url),
    FILE: file,
    AMOUNT: amount,
  })
  await worker.ask({ prepare: true })
  await query(
    url,
    `insert into cloud_resources (id, provider, provider_id, kind, name, tags, attrs, fingerprint, first_seen_at,
       last_seen_at, tenant_id)
     select uuid_v7(), 'digitalocean', i, 'droplet', 'vm-' || lpad(i::text, 7, '0'), '{}', '{}', '', '2026-01-05',
       '2026-10-15', 'tenant-' || i % 1000
     from generate_series(0, $1::int - 1) i`,
    [DROPLETS],
  )
  await query(
    url,
    `insert into resource_versions (resource_id, event_id, valid_from, kind, name, tags, attrs, tenant_id)
     select id, uuid_v7(), first_seen_at, kind, name, tags, attrs, tenant_id from cloud_resources`,
  )
  await query(url, 'vacuum analyze')
  return worker
}

export default [ingest, memory, lastPage]
