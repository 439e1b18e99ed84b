// What the provider charges, and whom: the account, the balance, the finished invoices, and an invoice's lines as the CSV they are.
// The preview is left out everywhere: it changes daily and is no invoice.
import { Readable } from 'node:stream'
import { type CallOptions, getRequest } from './client.ts'
import { ProviderError } from './errors.ts'
import { collect, type ListingParts, type ListingVerdict, type ListOptions, openListing } from './listing.ts'
import { decimalAt, isRecord, malformed, type RawItem, textAt, timeAt } from './responses.ts'

/** Amounts are exact decimals as text. */
export interface Balance {
  month_to_date_balance: string
  account_balance: string
  month_to_date_usage: string
  generated_at: string
}

/** Who is billed. */
export interface Account {
  account_id: string
  name: string | null
}

export interface InvoiceHeader {
  invoice_uuid: string
  invoice_id: string | null
  amount: string
  /** `YYYY-MM`. */
  invoice_period: string
}

export interface Billing {
  account(options?: CallOptions): Promise<Account>
  balance(options?: CallOptions): Promise<Balance>
  /** `odd`: why one or more of the listed invoices are left out; null when all are here. */
  invoices(options?: ListOptions): Promise<ListingVerdict & { items: InvoiceHeader[]; odd: string | null }>
  /** The bytes as they come; never held whole. A connection lost midway fails the stream. */
  invoiceCsv(invoiceUuid: string, options?: CallOptions): Promise<Readable>
}

export function createBilling(parts: ListingParts): Billing {
  const { client } = parts
  return {
    async account(options) {
      const body = await client.json(getRequest('/v2/account'), options)
      const account = body?.account
      if (!isRecord(account)) throw malformed('the answer has no account')
      // The token's owner is a person; where they act for a team, the team pays.
      const payer = isRecord(account.team) ? account.team : account
      return { account_id: textAt(payer, 'uuid'), name: nameAt(payer) }
    },

    async balance(options) {
      const body = await client.json(getRequest('/v2/customers/my/balance'), options)
      if (!body) throw malformed('the answer is empty')
      return {
        month_to_date_balance: decimalAt(body, 'month_to_date_balance'),
        account_balance: decimalAt(body, 'account_balance'),
        month_to_date_usage: decimalAt(body, 'month_to_date_usage'),
        generated_at: timeAt(body, 'generated_at'),
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
      const headers: InvoiceHeader[] = []
      let odd: string | null = null
      for (const item of items) {
        try {
          headers.push(headerOf(item))
        } catch (error) {
          // One that cannot be read keeps none of the others from being fetched.
          if (!(error instanceof ProviderError)) throw error
          odd ??= error.message
        }
      }
      return { items: headers, odd, ...verdict }
    },

    async invoiceCsv(invoiceUuid, options = {}) {
      if (invoiceUuid === 'preview') throw new TypeError('the preview is no invoice')
      const request = getRequest('/v2/customers/my/invoices/{invoice_uuid}/csv', invoiceUuid)
      const bytes = await client.stream(
        { ...request, accept: 'text/csv', acceptEncoding: 'identity' },
        options,
      )
      return Readable.fromWeb(bytes, { signal: options.signal })
    },
  }
}

/** The uuid becomes part of addresses and file names. */
const INVOICE_UUID = /^[\x21-\x7e]{1,500}$/
const LONGEST_TEXT = 255

const LONGEST_NAME = 255

/** An account need not have one. */
function nameAt({ name }: RawItem): string | null {
  if (typeof name !== 'string' || !name.isWellFormed() || /\p{Cc}/u.test(name)) return null
  return name.trim().slice(0, LONGEST_NAME) || null
}

function headerOf(item: RawItem): InvoiceHeader {
  const invoice_uuid = textAt(item, 'invoice_uuid')
  if (!INVOICE_UUID.test(invoice_uuid)) throw malformed('an invoice has a uuid that cannot be used')
  const { invoice_id } = item
  const amount = decimalAt(item, 'amount')
  const invoice_period = textAt(item, 'invoice_period')
  if (!/^[12]\d{3}-(0[1-9]|1[0-2])$/.test(invoice_period))
    throw malformed(`invoice ${invoice_uuid} has no month`)
  return {
    invoice_uuid,
    invoice_id: typeof invoice_id === 'string' && isPlain(invoice_id) ? invoice_id : null,
    amount,
    invoice_period,
  }
}

const isPlain = (text: string) => text.length <= LONGEST_TEXT && text.isWellFormed() && !/\p{Cc}/u.test(text)
