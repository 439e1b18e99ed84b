// What the provider charges: the balance, the finished invoices, and an invoice's lines as the CSV they are.
// The preview is left out everywhere: it changes daily and is no invoice.
import { Readable } from 'node:stream'
import { decimalAt, textAt } from './answers.ts'
import { malformed } from './body.ts'
import type { Verdict } from './completeness.ts'
import type { CallOptions } from './courier.ts'
import { collect, type ListingParts, type ListOptions, openListing } from './listing.ts'
import { getOrder } from './orders.ts'

/** Amounts are exact decimals as text. */
export interface Balance {
  month_to_date_balance: string
  account_balance: string
  month_to_date_usage: string
  generated_at: string
}

export interface InvoiceHeader {
  invoice_uuid: string
  invoice_id: string | null
  amount: string
  /** `YYYY-MM`. */
  invoice_period: string
}

export interface Billing {
  balance(options?: CallOptions): Promise<Balance>
  invoices(options?: ListOptions): Promise<Verdict & { items: InvoiceHeader[] }>
  /** The bytes as they come; never held whole. A connection lost midway fails the stream. */
  invoiceCsv(invoiceUuid: string, options?: CallOptions): Promise<Readable>
}

export function createBilling(parts: ListingParts): Billing {
  const { courier } = parts
  return {
    async balance(options) {
      const body = await courier.json(getOrder('/v2/customers/my/balance'), options)
      if (!body) throw malformed('the answer is empty')
      return {
        month_to_date_balance: decimalAt(body, 'month_to_date_balance'),
        account_balance: decimalAt(body, 'account_balance'),
        month_to_date_usage: decimalAt(body, 'month_to_date_usage'),
        generated_at: textAt(body, 'generated_at'),
      }
    },

    async invoices({ signal, onPage } = {}) {
      const source = {
        path: '/v2/customers/my/invoices',
        key: 'invoices',
        idField: 'invoice_uuid',
        paged: true,
      }
      const { items, ...verdict } = await collect(openListing(parts, [source], signal), onPage)
      const headers = items.map(item => ({
        invoice_uuid: textAt(item, 'invoice_uuid'),
        invoice_id: typeof item.invoice_id === 'string' ? item.invoice_id : null,
        amount: decimalAt(item, 'amount'),
        invoice_period: textAt(item, 'invoice_period'),
      }))
      return { items: headers, ...verdict }
    },

    async invoiceCsv(invoiceUuid, options = {}) {
      if (invoiceUuid === 'preview') throw new TypeError('the preview is no invoice')
      const order = getOrder('/v2/customers/my/invoices/{invoice_uuid}/csv', invoiceUuid)
      const bytes = await courier.stream({ ...order, accept: 'text/csv' }, options)
      return Readable.fromWeb(bytes, { signal: options.signal })
    },
  }
}
