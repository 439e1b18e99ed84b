// One row of an invoice's CSV, read and checked: exact amounts, times in UTC. Columns are known by their names, in any
// order and however these are written; the amount's is named by its currency or `amount`, and what is not known is kept as extra.
import { isCurrency } from '../../kernel/currencies.ts'
import { type InvoiceLine, isDoubtfulTax, isTax, kindOf, nameOf } from './cost-line.ts'
import { readAmount } from './written-amount.ts'

/** As an editor counts lines, from 1. */
interface Position {
  line: number
  column?: string
}

/** What is wrong with a file, and where. The same file would come again, so a job that meets this is not retried. */
export class InvoiceFileError extends Error {
  override readonly name = 'InvoiceFileError'

  constructor(problem: string, at?: Position) {
    super(
      at ? `line ${at.line}${at.column === undefined ? '' : `, column ${at.column}`}: ${problem}` : problem,
    )
  }
}

const LONGEST_SHOWN = 60

/** A value of the file, fit to be shown in an error. */
const shown = (value: string): string =>
  JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value)

const REQUIRED = ['product', 'description', 'start', 'end'] as const
// An older header has no category.
const OPTIONAL = ['group_description', 'hours', 'project_name', 'category', 'currency'] as const
const KNOWN: readonly string[] = [...REQUIRED, ...OPTIONAL]

type Known = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number]

/** Positions; -1 for an optional column that the file lacks. */
export interface Columns {
  at: Record<Known | 'amount', number>
  count: number
  /** As the file calls the amount. */
  amountName: string
  currency: string
  extra: { name: string; at: number }[]
}

/** A name however it is written: `Group Description` is `group_description`. */
const keyOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')

const isAmount = (key: string): boolean => key === 'amount' || isCurrency(key.toUpperCase())

/** `currency`: the invoice's own, for a file that does not name one. */
export function readHeader(header: readonly string[], currency: string, line: number): Columns {
  const wrongHeader = (problem: string) => new InvoiceFileError(problem, { line })
  const keys = header.map(keyOf)
  const twice = KNOWN.find(key => keys.indexOf(key) !== keys.lastIndexOf(key))
  if (twice !== undefined) throw wrongHeader(`the column ${shown(twice)} is there twice`)

  // Two of them are two opinions of what is owed, also when one of them is right.
  const amounts = keys.flatMap((key, at) => (isAmount(key) ? [at] : []))
  if (amounts.length > 1) {
    const names = amounts.map(at => header[at]!.trim())
    throw wrongHeader(`there are several amounts: ${names.join(', ')}`)
  }
  const [amount] = amounts
  const missing: string[] = REQUIRED.filter(key => !keys.includes(key))
  if (amount === undefined) missing.push('the amount (named by its currency, such as USD, or amount)')
  if (missing.length > 0 || amount === undefined) {
    throw wrongHeader(`columns are missing: ${missing.join(', ')}`)
  }
  const at = Object.fromEntries(KNOWN.map(key => [key, keys.indexOf(key)])) as Record<Known, number>
  return {
    at: { ...at, amount },
    count: header.length,
    amountName: header[amount]!.trim(),
    currency: keys[amount] === 'amount' ? currency : keys[amount]!.toUpperCase(),
    extra: extraColumns(keys, amount),
  }
}

/** A column without a name holds nothing that could be asked for; of two with one name the second says where it stands. */
function extraColumns(keys: readonly string[], amount: number): Columns['extra'] {
  return keys.flatMap((key, at) => {
    if (key === '' || at === amount || KNOWN.includes(key)) return []
    return [{ name: keys.indexOf(key) === at ? key : `${key}_${at + 1}`, at }]
  })
}

/** A record may be shorter than the header: what it lacks is empty. */
export function readInvoiceLine(record: readonly string[], columns: Columns, line: number): InvoiceLine {
  if (record.length > columns.count) {
    const problem = `there are ${record.length} fields, but ${columns.count} columns`
    throw new InvoiceFileError(problem, { line })
  }
  const { at, amountName, currency } = columns
  const description = required(record, at.description, 'description', line)
  const named = optional(record, at.product)
  // Money that says what it is for is kept, whatever else it leaves out.
  const product = named ?? description
  const written = required(record, at.amount, amountName, line)
  const amount = readAmount(written, currency)
  if (!amount) throw unreadable(written, `an amount in ${currency}`, amountName, line)
  checkCurrency(optional(record, at.currency), currency, line)
  const kind = kindOf(product)
  return {
    line_number: line,
    product,
    group_description: optional(record, at.group_description),
    description,
    kind,
    name: nameOf(kind, description),
    hours: hoursAt(record, at.hours, line),
    start_at: timeAt(record, at.start, 'start', line),
    end_at: timeAt(record, at.end, 'end', line),
    amount: amount.amount,
    amount_minor: amount.minor,
    project_name: optional(record, at.project_name),
    category: optional(record, at.category),
    is_tax: isTax(description),
    tax_flagged: isDoubtfulTax(description, named ?? ''),
    extra: extraOf(record, columns),
  }
}

/** A column may say the currency too, and then says the same. */
function checkCurrency(said: string | null, currency: string, line: number): void {
  if (said !== null && said.toUpperCase() !== currency)
    throw unreadable(said, `the invoice’s currency, ${currency}`, 'currency', line)
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

const HOURS = /^(?:\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.\d{1,9})?$/

function hoursAt(record: readonly string[], at: number, line: number): string | null {
  const written = optional(record, at)
  if (written === null) return null
  if (!HOURS.test(written)) throw unreadable(written, 'a number of hours', 'hours', line)
  return written.replaceAll(',', '')
}

function extraOf(record: readonly string[], { extra }: Columns): InvoiceLine['extra'] {
  if (extra.length === 0) return null
  const kept = extra.filter(({ at }) => record[at])
  // Defined rather than assigned: a column may be called `__proto__`.
  return kept.length > 0 ? Object.fromEntries(kept.map(({ name, at }) => [name, record[at]!])) : null
}

const unreadable = (value: string, what: string, column: string, line: number) =>
  new InvoiceFileError(`${shown(value)} is not ${what}`, { line, column })

// `2026-10-01 00:00:00 +0000`
const WRITTEN_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))? ?(?:([+-])(\d\d):?(\d\d)|([A-Z]{1,3}))$/

/** The zones of RFC 822 that have a name, in hours from UTC. */
const ZONES = new Map(
  Object.entries({
    ...{ Z: 0, UT: 0, UTC: 0, GMT: 0 },
    ...{ EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 },
  }),
)

const MOST_REMEMBERED = 10_000
const remembered = new Map<string, string>()

/** In UTC, ISO 8601; undefined when it is no time, such as a day that does not exist. */
export function readLineTime(text: string): string | undefined {
  // Most lines of an invoice begin and end with the month.
  const known = remembered.get(text)
  if (known !== undefined) return known
  const time = parseTime(text)
  if (time === undefined) return undefined
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(text, time)
  return time
}

type Six = [number, number, number, number, number, number]

function parseTime(text: string): string | undefined {
  const match = WRITTEN_TIME.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six
  const [, , , , , , , fraction = '', sign, hours, minutes, zone] = match
  const offset = zone === undefined ? offsetMinutes(sign, Number(hours), Number(minutes)) : zoneMinutes(zone)
  if (offset === undefined || hour > 23 || minute > 59 || second > 59 || year < 1900) return undefined
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  const local = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds))
  // Date counts on from the last day of a month; a written date does not.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined
  return new Date(local.getTime() - offset * 60_000).toISOString()
}

function zoneMinutes(zone: string): number | undefined {
  const hours = ZONES.get(zone)
  return hours === undefined ? undefined : hours * 60
}

const offsetMinutes = (sign: string | undefined, hours: number, minutes: number): number | undefined =>
  hours > 14 || minutes > 59 ? undefined : (sign === '-' ? -1 : 1) * (hours * 60 + minutes)
