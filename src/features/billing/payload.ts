// An invoice as finance takes it: the amounts split as the specification says, in whole minor units, and every line. What
// a line is assigned to is left out: that may change without the invoice having changed, and finance would not hear of it.
import { monthOf } from '../../kernel/time.ts'
import { PROVIDER } from '../inventory/index.ts'
import type { CostLineRow, InvoiceRow } from './tables.ts'

export type PayloadInvoice = Pick<
  InvoiceRow,
  'invoice_uuid' | 'period' | 'currency' | 'line_count' | 'amount_net_minor' | 'amount_tax_minor'
>

export type PayloadLine = Pick<
  CostLineRow,
  | 'product'
  | 'group_description'
  | 'description'
  | 'kind'
  | 'project_name'
  | 'category'
  | 'hours'
  | 'start_at'
  | 'end_at'
  | 'amount'
  | 'amount_minor'
  | 'is_tax'
>

/** Everything but the lines. */
export function payloadHead(invoice: PayloadInvoice, tenantId: string) {
  const { net, tax } = sumsOf(invoice)
  return {
    tenant_id: tenantId,
    source: PROVIDER,
    external_id: invoice.invoice_uuid,
    period_start: monthOf(invoice.period).first_day,
    period_end: monthOf(invoice.period).last_day,
    currency: invoice.currency,
    amount_net_minor: net,
    amount_tax_minor: tax,
    amount_gross_minor: net + tax,
  }
}

/**
 * The payload as JSON text, piece by piece as the lines come. The last piece is written only when the lines have turned
 * out to be those the amounts were summed from: until then what was sent is no JSON, and cannot be taken for an invoice.
 */
export async function* payloadText(
  invoice: PayloadInvoice,
  tenantId: string,
  batches: AsyncIterable<PayloadLine[]>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(payloadHead(invoice, tenantId)).slice(0, -1)},"lines":[`
  const seen = { lines: 0, net: 0, tax: 0 }
  for await (const batch of batches) {
    if (batch.length === 0) continue
    for (const line of batch) seen[line.is_tax ? 'tax' : 'net'] += line.amount_minor
    yield (seen.lines > 0 ? ',' : '') + JSON.stringify(batch).slice(1, -1)
    seen.lines += batch.length
  }
  const expected = sumsOf(invoice)
  if (seen.lines !== expected.lines || seen.net !== expected.net || seen.tax !== expected.tax) {
    throw new Error(
      `the lines are not what the invoice says: ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`,
    )
  }
  yield ']}'
}

function sumsOf({ line_count, amount_net_minor, amount_tax_minor }: PayloadInvoice) {
  if (line_count === null || amount_net_minor === null || amount_tax_minor === null) {
    throw new Error('an invoice without lines cannot be pushed')
  }
  return { lines: line_count, net: amount_net_minor, tax: amount_tax_minor }
}
