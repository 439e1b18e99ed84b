// One line of an invoice's file, read and checked: exact amounts, times in UTC, what it is for and whether it is tax.
import type { Columns } from './invoice-columns.ts'
import { InvoiceFileError, shown } from './invoice-file-error.ts'
import { kindOf, nameOf } from './line-match.ts'
import { readLineTime } from './line-time.ts'
import { minorDigits, readAmount } from './provider-amount.ts'
import type { CostLineRow } from './tables.ts'
import { isDoubtfulTax, isTax } from './tax-split.ts'

/** What the file says of a line; whose it is comes later. */
export type InvoiceLine = Pick<
  CostLineRow,
  | 'line_number'
  | 'product'
  | 'group_description'
  | 'description'
  | 'kind'
  | 'name'
  | 'hours'
  | 'start_at'
  | 'end_at'
  | 'amount'
  | 'amount_minor'
  | 'project_name'
  | 'category'
  | 'is_tax'
  | 'tax_flagged'
  | 'extra'
>

/** A record may be shorter than the header: what it lacks is empty. */
export function readInvoiceLine(record: readonly string[], columns: Columns, line: number): InvoiceLine {
  if (record.length > columns.count) {
    const problem = `there are ${record.length} fields, but ${columns.count} columns`
    throw new InvoiceFileError(problem, { line })
  }
  const product = required(record, columns.product, 'product', line)
  const description = required(record, columns.description, 'description', line)
  const written = required(record, columns.amount, columns.amountName, line)
  const amount = readAmount(written, minorDigits(columns.currency))
  if (!amount) throw unreadable(written, 'an amount', columns.amountName, line)
  const kind = kindOf(product)
  return {
    line_number: line,
    product,
    group_description: optional(record, columns.group_description),
    description,
    kind,
    name: nameOf(kind, description),
    hours: hoursAt(record, columns.hours, line),
    start_at: timeAt(record, columns.start, 'start', line),
    end_at: timeAt(record, columns.end, 'end', line),
    amount: amount.amount,
    amount_minor: amount.minor,
    project_name: optional(record, columns.project_name),
    category: optional(record, columns.category),
    is_tax: isTax(description),
    tax_flagged: isDoubtfulTax(description, product),
    extra: extraOf(record, columns),
  }
}

/** What a line says, for telling whether two sets of lines say the same: no matter how its file was written. */
export const contentOf = (line: InvoiceLine): string =>
  `${line.product}\x1f${line.group_description ?? ''}\x1f${line.description}\x1f${line.hours ?? ''}\x1f${line.start_at ?? ''}\x1f${line.end_at ?? ''}\x1f${line.amount}\x1f${line.project_name ?? ''}\x1f${line.category ?? ''}\x1e`

function optional(record: readonly string[], at: number): string | null {
  const value = record[at]
  return value === undefined ? null : value.trim() || null
}

function required(record: readonly string[], at: number, column: string, line: number): string {
  const value = optional(record, at)
  if (value === null) throw new InvoiceFileError('is empty', { line, column })
  return value
}

function timeAt(record: readonly string[], at: number, column: string, line: number): string | null {
  const written = optional(record, at)
  if (written === null) return null
  const time = readLineTime(written)
  if (time === undefined) throw unreadable(written, 'a time that exists', column, line)
  return time
}

const HOURS = /^\d{1,9}(\.\d{1,9})?$/

function hoursAt(record: readonly string[], at: number, line: number): string | null {
  const written = optional(record, at)
  if (written === null) return null
  const hours = written.includes(',') ? readAmount(written, 0)?.amount : written
  if (hours === undefined || !HOURS.test(hours)) throw unreadable(written, 'a number of hours', 'hours', line)
  return hours
}

function extraOf(record: readonly string[], { extra }: Columns): InvoiceLine['extra'] {
  if (extra.length === 0) return null
  const kept = extra.filter(({ at }) => record[at])
  // Defined rather than assigned: a column may be called `__proto__`.
  return kept.length > 0 ? Object.fromEntries(kept.map(({ name, at }) => [name, record[at]!])) : null
}

const unreadable = (value: string, what: string, column: string, line: number) =>
  new InvoiceFileError(`${shown(value)} is not ${what}`, { line, column })
