// The ingest of the service's own: its configuration, pool, queue and log, and `ingestInvoice` as the job calls it. The
// provider's client is the real one; what answers it reads a file.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { ingestInvoice } from '../../src/features/billing/ingest-invoice.ts'
import { upsertInvoices } from '../../src/features/billing/invoice-store.ts'
import { createProvider, oneProvider } from '../../src/integrations/digitalocean/index.ts'
import { boundHeapGrowth } from '../../src/kernel/heap-growth.ts'
import { peakBytes, workingLong } from '../process.ts'

export interface Ingest {
  /** Only make the tables. */
  prepare?: true
  /** Begin with no lines at all, instead of replacing those that are there. */
  anew?: boolean
}

export interface Ingested {
  ms: number
  /** The most memory the process has held since it started. */
  peakBytes: number
}

const { config } = readConfig({ ...process.env })
const context = await createContext({ config, worker: false })
const { db } = context
const provider = createProvider({
  baseUrl: 'https://provider.example',
  token: 'bench',
  fetch: async () =>
    new Response(Readable.toWeb(createReadStream(process.env.FILE!)) as ReadableStream<Uint8Array>, {
      headers: { 'content-type': 'text/csv' },
    }),
})
const listed = {
  invoice_uuid: 'bench',
  invoice_number: '1',
  period: '2026-09-01',
  amount: process.env.AMOUNT!,
}

// As a process of the service does.
boundHeapGrowth()

workingLong<Ingest, Ingested>(async ({ prepare, anew }) => {
  const answer = (ms: number) => ({ ms, peakBytes: peakBytes() })
  if (prepare) return answer(0)
  await upsertInvoices(db, [listed], new Date().toISOString())
  if (anew) await sql`truncate cloud_cost_lines`.execute(db)
  // As if the file were another one each time.
  await sql`update cloud_invoices set sha256 = null`.execute(db)
  await sql`checkpoint`.execute(db)
  const { id } = await db.selectFrom('cloud_invoices').select('id').executeTakeFirstOrThrow()
  const began = performance.now()
  const job = { signal: new AbortController().signal, log: context.log }
  const outcome = await ingestInvoice({ ...context, providers: oneProvider(provider) }, id, job)
  const ms = performance.now() - began
  const { reconciled } = await db.selectFrom('cloud_invoices').select('reconciled').executeTakeFirstOrThrow()
  if (outcome !== 'ingested' || reconciled !== true) throw new Error(`the ingest ended as ${outcome}`)
  return answer(ms)
})
