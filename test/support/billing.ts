// Invoices in tests: listed and fetched from the simulated provider through the real queue, or handed in as text.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { CostLineRow } from '../../src/features/billing/cost-line.ts'
import { ingestInvoice } from '../../src/features/billing/ingest-invoice.ts'
import type { InvoiceRow } from '../../src/features/billing/invoice.ts'
import { upsertInvoices } from '../../src/features/billing/invoice-store.ts'
import { oneProvider } from '../../src/integrations/digitalocean/index.ts'
import { eventually } from './eventually.ts'
import type { Bundle } from './setup.ts'
import { jobPart } from './sweep.ts'
import { versionsFromEvents } from './versions.ts'

export const fixtureText = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../fixtures/digitalocean', name), 'utf8')

/** Runs a task and waits for its end; its record. */
export async function runTask(
  { call }: Bundle,
  name: string,
): Promise<{ status: string; error: string | null }> {
  const asked = await call('POST', `/api/v1/admin/scheduled_tasks/${name}/run`)
  assert.equal(asked.status, 202, asked.text)
  return eventually(`${name} has run`, async () => {
    const { body } = await call('GET', `/api/v1/admin/scheduled_tasks/${name}/runs/${asked.body.data.id}`)
    return ['completed', 'failed'].includes(body.data.status) && body.data
  })
}

/** Waits until no invoice is pending; all of them. */
export function whenFetched({ call }: Bundle): Promise<InvoiceRow[]> {
  return eventually('every invoice is fetched', async () => {
    const { body } = await call('GET', '/api/v1/billing/invoices')
    const invoices = body.data as InvoiceRow[]
    return invoices.every(invoice => invoice.ingest_status !== 'pending') && invoices
  })
}

let made = 0

/** A header, as the provider would have listed it. */
export async function haveInvoice(
  { ctx, clock }: Bundle,
  { amount = '6.00', period = '2026-10-01' } = {},
): Promise<InvoiceRow> {
  const invoice_uuid = `invoice-${++made}`
  const listed = { invoice_uuid, invoice_number: null, period, amount }
  await upsertInvoices(ctx.db, [listed], clock.now().toISOString())
  return ctx.db
    .selectFrom('cloud_invoices')
    .selectAll()
    .where('invoice_uuid', '=', invoice_uuid)
    .executeTakeFirstOrThrow()
}

/** Ingests this text as the invoice's file. */
export function ingest({ ctx }: Bundle, { id }: Pick<InvoiceRow, 'id'>, file: string | Uint8Array) {
  const invoiceCsv = async () => Readable.from([Buffer.from(file as string)])
  return ingestInvoice(
    { ...ctx, providers: oneProvider({ ...ctx.providers.for('cloud_billing'), invoiceCsv }) },
    id,
    jobPart(),
  )
}

export async function invoiceOf({ call }: Bundle, { id }: Pick<InvoiceRow, 'id'>): Promise<InvoiceRow> {
  const { body, status, text } = await call('GET', `/api/v1/billing/invoices/${id}`)
  assert.equal(status, 200, text)
  return body.data
}

/** Lines as the API shows them. */
export async function costLines({ call }: Bundle, query: string): Promise<CostLineRow[]> {
  const { body, status, text } = await call('GET', `/api/v1/billing/cost-lines?${query}`)
  assert.equal(status, 200, text)
  return body.data
}

export interface Lived {
  kind?: string
  name: string
  first?: string
  last?: string
  deleted?: string | null
  tenant?: string | null
  deployment?: string | null
}

/** A resource as sweeps would have left it: first seen in January and still there, unless said otherwise. */
export async function haveResource(bundle: Bundle, lived: Lived): Promise<string> {
  const { ctx } = bundle
  const { kind = 'droplet', name, first = '2026-01-05T08:15:00Z', last = '2026-11-15T11:15:00Z' } = lived
  const { rows } = await sql<{ id: string }>`
    insert into cloud_resources (id, provider, provider_id, kind, name, tags, attrs, fingerprint, first_seen_at,
      last_seen_at, deleted_at, tenant_id, deployment_id)
    values (uuid_v7(), 'digitalocean', ${`${kind}-${++made}`}, ${kind}, ${name}, '{}', '{}', '', ${first}, ${last},
      ${lived.deleted ?? null}, ${lived.tenant ?? null}, ${lived.deployment ?? null})
    returning id`.execute(ctx.db)
  await versionsFromEvents(bundle)
  return rows[0]!.id
}

type Change = Partial<Record<'tenant_id' | 'deployment_id', [before: string | null, after: string | null]>>

/** That the resource changed hands, as a sweep would have recorded it. */
export async function changedHands(bundle: Bundle, id: string, at: string, change: Change): Promise<void> {
  const changes = Object.fromEntries(
    Object.entries(change).map(([owner, [before, after]]) => [owner, { before, after }]),
  )
  await sql`
    insert into cloud_resource_events (id, resource_id, kind, changes, actor, created_at)
    values (uuid_v7(), ${id}, 'updated', ${JSON.stringify(changes)}::jsonb, 'test', ${at})`.execute(
    bundle.ctx.db,
  )
  await versionsFromEvents(bundle)
}
