// An invoice of a million lines, as a file, and the inventory that it charges for: every line but the tax is one of a
// hundred thousand droplets.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invoiceCsv } from '../sandbox/world/billing.ts'
import { generated } from '../sandbox/world/generated.ts'
import { query } from './databases.ts'
import { serviceEnvironment } from './service-environment.ts'
import { startWorker } from './worker-process.ts'
import type { Ingest, Ingested } from './workers/billing-ingest.ts'

export const LINES = 1_000_000
const DROPLETS = 100_000

/** Writes the file, hands it to `use`, and takes it away. */
export async function withInvoiceFile<T>(use: (path: string, amount: string) => Promise<T>): Promise<T> {
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
export async function ingester(url: string, file: string, amount: string) {
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
  await query(url, 'vacuum analyze cloud_resources')
  await query(url, 'vacuum analyze resource_versions')
  return worker
}
