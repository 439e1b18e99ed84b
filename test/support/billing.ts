// Invoices in tests: listed and fetched from the simulated provider through the real queue, or handed in as text.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { CostLineRow } from '../../src/features/billing/cost-line.ts'
import { ingestInvoice } from '../../src/features/billing/ingest-invoice.ts'
import type { InvoiceRow } from '../../src/features/billing/invoice.ts'
import { upsertInvoices } from '../../src/features/billing/invoice-store.ts'
import { oneProvider } from '../../src/integrations/digitalocean/index.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'
import { newId } from '../../src/kernel/ids.ts'
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

/** An invoice as the provider would have listed it, with whatever else a test says of it. */
export async function haveInvoice(
  { ctx }: Pick<Bundle, 'ctx'>,
  { period = '2026-10-01', amount = '6.00', ...others }: Partial<InvoiceRow> = {},
): Promise<InvoiceRow> {
  const { invoice_uuid = `invoice-${++made}`, invoice_number = null } = others
  const listed = { invoice_uuid, invoice_number, period, amount }
  await upsertInvoices(ctx.db, [listed], ctx.clock.now().toISOString())
  return ctx.db
    .updateTable('cloud_invoices')
    .set({ invoice_uuid, ...others })
    .where('invoice_uuid', '=', invoice_uuid)
    .returningAll()
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
  tags?: string[]
  attrs?: Record<string, unknown>
}

/** A resource as sweeps would have left it: first seen in January and still there, unless said otherwise. */
export async function haveResource(bundle: Bundle, lived: Lived): Promise<string> {
  const { ctx } = bundle
  const { kind = 'droplet', name, first = '2026-01-05T08:15:00Z', last = '2026-11-15T11:15:00Z' } = lived
  const { rows } = await sql<{ id: string }>`
    insert into cloud_resources (id, provider, provider_id, kind, name, tags, attrs, fingerprint, first_seen_at,
      last_seen_at, deleted_at, tenant_id, deployment_id)
    values (uuid_v7(), 'digitalocean', ${`${kind}-${++made}`}, ${kind}, ${name}, ${lived.tags ?? []}::text[],
      ${JSON.stringify(lived.attrs ?? {})}::jsonb, '', ${first}, ${last},
      ${lived.deleted ?? null}, ${lived.tenant ?? null}, ${lived.deployment ?? null})
    returning id`.execute(ctx.db)
  await versionsFromEvents(bundle)
  return rows[0]!.id
}

type Value = string | null | string[] | Record<string, unknown>
type Change = Record<string, [before: Value, after: Value]>

/** That the resource changed hands, or else, as a sweep would have recorded it. */
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

export type Line = Partial<CostLineRow> & { amount: string }

const AT = '2026-11-02T02:30:00.000Z'

/** Two droplets' worth of net and a line of tax, unless the test has lines of its own. */
export const someLines: Line[] = [
  { product: 'Droplets', kind: 'droplet', description: 'web-01 (s-1vcpu-1gb)', amount: '6.00', hours: '744' },
  { product: 'Droplets', kind: 'droplet', description: 'web-02 (s-1vcpu-1gb)', amount: '6.00', hours: '744' },
  { product: 'Taxes', kind: 'tax', description: 'STATE SALES TAX (6.25%)', amount: '0.75' },
]

/** An invoice with lines, as the ingest would have left it; its id. */
export async function haveIngested(
  { ctx }: Pick<Bundle, 'ctx'>,
  lines: Line[] = someLines,
  header: Partial<InvoiceRow> = {},
): Promise<string> {
  const times = { created_at: AT, updated_at: AT }
  const listed = { invoice_uuid: randomUUID(), invoice_number: '12345678', amount: '0', ...times, ...header }
  const { id } = await haveInvoice({ ctx }, listed)
  await giveLines(ctx.db, id, lines)
  return id
}

/** Replaces the lines of an invoice, as a later file of it would. */
export async function giveLines(db: Executor, invoiceId: string, lines: Line[]): Promise<void> {
  await db.transaction().execute(async tx => {
    const { period, currency } = await tx
      .selectFrom('cloud_invoices')
      .select(['period', 'currency'])
      .where('id', '=', invoiceId)
      .forUpdate()
      .executeTakeFirstOrThrow()
    await tx.deleteFrom('cloud_cost_lines').where('invoice_id', '=', invoiceId).execute()
    const rows = lines.map((line, index) => rowOf(line, index + 2, invoiceId, period, currency))
    const columns = sql.raw(Object.keys(rowOf(someLines[0]!, 0, invoiceId, period, currency)).join(', '))
    await sql`
      insert into cloud_cost_lines (${columns})
      select ${columns} from jsonb_populate_recordset(null::cloud_cost_lines, ${JSON.stringify(rows)}::jsonb)`.execute(
      tx,
    )
    const content = JSON.stringify(lines.map(({ description, amount }) => [description, amount]))
    await sql`
      update cloud_invoices set ingest_status = 'ingested', ingested_at = ${AT}, ingest_count = ingest_count + 1,
        lines_hash = ${createHash('sha256').update(content).digest('hex')}, reconciled = true,
        line_count = ${lines.length}, lines_amount = s.amount, amount = s.amount,
        amount_net_minor = s.net, amount_tax_minor = s.tax
      from (select coalesce(sum(amount), 0) as amount,
          coalesce(sum(amount_minor) filter (where not is_tax), 0)::bigint as net,
          coalesce(sum(amount_minor) filter (where is_tax), 0)::bigint as tax
        from cloud_cost_lines where invoice_id = ${invoiceId}) s
      where id = ${invoiceId}`.execute(tx)
  })
}

function rowOf(line: Line, lineNumber: number, invoiceId: string, period: string, currency: string) {
  const { product = 'Droplets', kind = 'droplet', description = `web-${lineNumber} (s-1vcpu-1gb)` } = line
  return {
    id: newId(),
    invoice_id: invoiceId,
    period,
    line_number: lineNumber,
    product,
    group_description: null,
    description,
    kind,
    name: null,
    hours: null,
    start_at: null,
    end_at: null,
    amount_minor: Math.round(Number(line.amount) * 100),
    currency,
    project_name: null,
    category: 'iaas',
    is_tax: /gst|tax/i.test(description),
    tax_flagged: /gst|tax/i.test(description) !== (product === 'Taxes'),
    extra: null,
    resource_id: null,
    deployment_id: null,
    tenant_id: null,
    matched_by: null,
    ...line,
  }
}

/** The invoice's row. */
export const invoiceRow = ({ ctx }: Pick<Bundle, 'ctx'>, id: string): Promise<InvoiceRow> =>
  ctx.db.selectFrom('cloud_invoices').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
