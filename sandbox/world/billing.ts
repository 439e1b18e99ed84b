// Decides what an invoice is in this world: lines in whole cents, and everything the provider shows of it
// (total, summary, CSV) counted from those lines, so that the figures can never disagree.
import { namedUuid } from './kinds.ts'

export type InvoiceLine = {
  product: string
  group?: string
  description: string
  hours?: number
  cents: number
  project?: string
  category: 'iaas' | 'paas'
  resourceId?: string
}

/** An array is one; a generated invoice of a million lines computes each as it is asked for. */
export type Lines = Iterable<InvoiceLine> & {
  readonly length: number
  at(index: number): InvoiceLine | undefined
}

export type Invoice = {
  uuid: string
  number: string
  /** YYYY-MM */
  period: string
  lines: Lines
  cents: number
}

export type Billing = {
  currency: string
  /** Every month that has ended, newest first, as the provider lists them. */
  invoices(now: Date): Invoice[]
  /** The running month: it changes daily, and is not an invoice yet. */
  preview(now: Date): Invoice
  customer: { name: string; company: string; email: string }
}

export function invoice(period: string, lines: Lines): Invoice {
  return {
    uuid: namedUuid(`invoice:${period}`),
    number: `41${period.replace('-', '')}07`,
    period,
    lines,
    cents: totalCents(lines),
  }
}

export function totalCents(lines: Iterable<InvoiceLine>): number {
  let sum = 0
  for (const line of lines) sum += line.cents
  return sum
}

/** 1234 → "12.34" */
export function decimal(cents: number): string {
  const whole = Math.trunc(Math.abs(cents) / 100)
  const rest = String(Math.abs(cents) % 100).padStart(2, '0')
  return `${cents < 0 ? '-' : ''}${whole}.${rest}`
}

/** 1234 → "$12.34", -500 → "-$5.00" */
function withSymbol(cents: number): string {
  return cents < 0 ? `-$${decimal(-cents)}` : `$${decimal(cents)}`
}

/** A month's first and last moment, as the CSV and the items show them. */
export function periodBounds(period: string): { start: Date; end: Date } {
  const [year, month] = period.split('-').map(Number)
  return {
    start: new Date(Date.UTC(year!, month! - 1, 1)),
    end: new Date(Date.UTC(year!, month!, 1) - 1000),
  }
}

export function hoursIn(period: string): number {
  const { start, end } = periodBounds(period)
  return Math.round((end.getTime() - start.getTime()) / 3_600_000)
}

/** The period `months` before the one a date is in. */
export function periodBefore(today: Date, months: number): string {
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - months, 1))
  return first.toISOString().slice(0, 7)
}

function csvField(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function csvTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 19).replace('T', ' ')} +0000`
}

/** The official nine columns; the amount column is named by its currency. */
export function* invoiceCsv(billed: Invoice, currency: string): Generator<string> {
  yield `product,group_description,description,hours,start,end,${currency},project_name,category\n`
  const bounds = periodBounds(billed.period)
  const start = csvTime(bounds.start)
  const end = csvTime(bounds.end)
  for (const line of billed.lines) {
    const fields = [
      line.product,
      line.group ?? '',
      line.description,
      line.hours === undefined ? '' : String(line.hours),
      start,
      end,
      withSymbol(line.cents),
      line.project ?? '',
      line.category,
    ]
    yield `${fields.map(csvField).join(',')}\n`
  }
}

/** Every month from `first` to the one before `now`, newest first. */
export function endedPeriods(first: string, now: Date): string[] {
  const periods: string[] = []
  for (let back = 1; periodBefore(now, back) >= first; back += 1) periods.push(periodBefore(now, back))
  return periods
}
