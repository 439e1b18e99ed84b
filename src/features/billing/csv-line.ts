// One row of an invoice's CSV, read and checked: exact amounts, times in UTC. Columns are known by their names, in any
// order; the amount's is named by its currency, and what is not known is kept as extra.
import { type InvoiceLine, isDoubtfulTax, isTax, kindOf, nameOf } from './cost-line.ts'

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
const OPTIONAL = ['group_description', 'hours', 'project_name', 'category'] as const
const KNOWN: readonly string[] = [...REQUIRED, ...OPTIONAL]

type Known = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number]

/** Positions; -1 for an optional column that the file lacks. */
export type Columns = Record<Known, number> & {
  count: number
  amount: number
  /** Also what the amount's column is called. */
  currency: string
  extra: { name: string; at: number }[]
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export function readHeader(header: readonly string[]): Columns {
  const names = header.map(name => name.trim())
  const keys = names.map(name => name.toLowerCase().replace(/[ -]+/g, '_'))
  const twice = keys.find((key, at) => key !== '' && keys.indexOf(key) !== at)
  if (twice !== undefined) throw wrongHeader(`the column ${shown(twice)} is there twice`)

  const amounts = names.filter(name => CURRENCIES.has(name))
  if (amounts.length > 1) throw wrongHeader(`there are several amounts: ${amounts.join(', ')}`)
  const missing: string[] = REQUIRED.filter(key => !keys.includes(key))
  if (amounts.length === 0) missing.push('the amount (named by its currency, such as USD)')
  if (missing.length > 0) throw wrongHeader(`columns are missing: ${missing.join(', ')}`)

  const currency = amounts[0]!
  const at = Object.fromEntries(KNOWN.map(key => [key, keys.indexOf(key)])) as Record<Known, number>
  return {
    ...at,
    count: header.length,
    amount: names.indexOf(currency),
    currency,
    // A column without a name holds nothing that could be asked for.
    extra: names.flatMap((name, at) =>
      name === '' || name === currency || KNOWN.includes(keys[at]!) ? [] : [{ name, at }],
    ),
  }
}

const wrongHeader = (problem: string) => new InvoiceFileError(problem, { line: 1 })

/** A record may be shorter than the header: what it lacks is empty. */
export function readInvoiceLine(record: readonly string[], columns: Columns, line: number): InvoiceLine {
  if (record.length > columns.count) {
    const problem = `there are ${record.length} fields, but ${columns.count} columns`
    throw new InvoiceFileError(problem, { line })
  }
  const product = required(record, columns.product, 'product', line)
  const description = required(record, columns.description, 'description', line)
  const written = required(record, columns.amount, columns.currency, line)
  const amount = readAmount(written, minorDigits(columns.currency))
  if (!amount) throw unreadable(written, 'an amount', columns.currency, line)
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

/** `amount` is an exact decimal; `minor` rounds it to whole minor units, half away from zero. */
export interface Amount {
  amount: string
  minor: number
}

// Sign, symbol, sign, digits with or without groups of three, fraction; all of it in parentheses means negative too.
const WRITTEN_AMOUNT =
  /^(\()?([-−+])?[ ]?(?:[A-Z]{0,3}\p{Sc})?[ ]?([-−+])?(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?(\))?$/u
const MOST_DIGITS = 15
const MOST_FRACTION = 18

/** Never through a float. Undefined when it is no amount; `digits` is how many decimals the minor unit has. */
export function readAmount(text: string, digits: number): Amount | undefined {
  const match = WRITTEN_AMOUNT.exec(text)
  if (!match) return undefined
  const [, open, before, after, grouped = '', fraction = '', close] = match
  if ((open === undefined) !== (close === undefined)) return undefined
  if ([open, before, after].filter(mark => mark !== undefined).length > 1) return undefined
  const negative = open !== undefined || isMinus(before) || isMinus(after)
  const whole = grouped.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  if (whole === '' && fraction === '') return undefined
  if (whole.length > MOST_DIGITS || fraction.length > MOST_FRACTION) return undefined
  const minor = minorOf(whole, fraction, digits)
  if (!Number.isSafeInteger(minor)) return undefined
  const decimal = `${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`
  const isNothing = minor === 0 && !/[1-9]/.test(decimal)
  return {
    amount: negative && !isNothing ? `-${decimal}` : decimal,
    minor: negative && minor !== 0 ? -minor : minor,
  }
}

const isMinus = (mark: string | undefined) => mark === '-' || mark === '−'

const FIVE = '5'.charCodeAt(0)

function minorOf(whole: string, fraction: string, digits: number): number {
  const kept = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return fraction.charCodeAt(digits) >= FIVE ? kept + 1 : kept
}

const digitsOf = new Map<string, number>()

/** Decimals of a currency's minor unit: 2 for USD, 0 for JPY. */
export function minorDigits(currency: string): number {
  let digits = digitsOf.get(currency)
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    digits = format.resolvedOptions().maximumFractionDigits ?? 2
    digitsOf.set(currency, digits)
  }
  return digits
}

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
