// Invoices with lines for tests that are not about reading the provider's files: written as the ingest leaves them.
import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { CostLineRow } from '../../src/features/billing/cost-line.ts'
import type { InvoiceRow } from '../../src/features/billing/invoice.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Bundle } from './setup.ts'

export type Line = Partial<CostLineRow> & { amount: string }

const AT = '2026-11-02T02:30:00.000Z'

/** Two droplets' worth of net and a line of tax, unless the test has lines of its own. */
export const someLines: Line[] = [
  { product: 'Droplets', kind: 'droplet', description: 'web-01 (s-1vcpu-1gb)', amount: '6.00', hours: '744' },
  { product: 'Droplets', kind: 'droplet', description: 'web-02 (s-1vcpu-1gb)', amount: '6.00', hours: '744' },
  { product: 'Taxes', kind: 'tax', description: 'STATE SALES TAX (6.25%)', amount: '0.75' },
]

/** An ingested invoice of the month; its id. */
export async function haveInvoice(
  { ctx }: Pick<Bundle, 'ctx'>,
  lines: Line[] = someLines,
  header: Partial<InvoiceRow> = {},
): Promise<string> {
  const id = newId()
  await ctx.db
    .insertInto('cloud_invoices')
    .values({
      id,
      provider: 'digitalocean',
      invoice_uuid: randomUUID(),
      invoice_number: '12345678',
      period: '2026-10-01',
      amount: '0',
      currency: 'USD',
      ingest_error: null,
      ingested_at: null,
      line_count: null,
      lines_amount: null,
      amount_net_minor: null,
      amount_tax_minor: null,
      reconciled: null,
      sha256: null,
      lines_hash: null,
      created_at: AT,
      updated_at: AT,
      pushed_to_finance_at: null,
      finance_invoice_id: null,
      finance_action: null,
      pushed_lines_hash: null,
      finance_error: null,
      ...header,
    })
    .execute()
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
    tax_flagged: /gst|tax/i.test(description) && product !== 'Taxes',
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
