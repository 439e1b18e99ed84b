// What a month costs that has no invoice yet: its resources at their list prices for as long as they lived in it, and what
// the provider says the month has cost so far. The estimate's shape, and how much a resource has cost at a time.
import { type Static, Type } from 'typebox'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { Currency, Decimal, Minor, Period } from './invoice.ts'

const said = {
  period: Period,
  made_at: Type.String({ ...Time, description: 'When it was made.' }),
  as_of: Type.String({ ...Time, description: 'Until when the costs are counted.' }),
  currency: Currency,
  listed_minor: Minor('The resources at their list prices until then.'),
  amount_minor: Minor(
    'What the month had cost by then: what the provider said, or the list prices where it said nothing. For a tenant its own resources at their list prices.',
  ),
  month_minor: Minor('What the month was expected to cost at its end.'),
}

const off = {
  invoiced_minor: Nullable(Minor('What the month’s invoices say without taxes; null before one is in.')),
  off_minor: Nullable(
    Minor('How much more was expected than was invoiced; less is negative. Null before an invoice is in.'),
  ),
}

/** A day's last estimate. */
export const DailyEstimate = noun(
  'DailyEstimate',
  {
    day: Type.String({ format: 'date', description: 'The day it was the last of.' }),
    ...said,
    usage_amount: Nullable(
      Type.String({ ...Decimal, description: 'What the provider said the month had cost; null: nothing.' }),
    ),
    ...off,
  },
  { usage_amount: '$.usage_amount::text' },
)

export const CostEstimate = noun('CostEstimate', {
  ...said,
  previous: Nullable(
    Type.Object(
      {
        ...said,
        ...off,
        off_percent: Nullable(
          Type.String({ description: 'Of what was invoiced, to a tenth.', examples: ['-1.3'] }),
        ),
      },
      {
        description:
          'The last estimate of the month before, beside what came of it; null where there is none.',
      },
    ),
  ),
})

export type Said = {
  [Field in keyof typeof said]: Static<(typeof said)[Field]>
}

/** Tenths of a percent, rounded half away from zero; null where nothing was invoiced. */
export function percentOff(offMinor: number, invoicedMinor: number): string | null {
  if (invoicedMinor === 0) return null
  const tenths = Math.round(Math.abs((offMinor * 1000) / invoicedMinor))
  const sign = tenths > 0 && offMinor < 0 !== invoicedMinor < 0 ? '-' : ''
  return `${sign}${Math.floor(tenths / 10)}.${tenths % 10}`
}

/** A stretch of a month in which a resource was the same. */
export interface Stretch {
  /** What is priced, how many of it, and the price of one: exact decimals. */
  sku: string
  quantity: string
  price_monthly: string
  price_hourly: string
  from_at: string
  to_at: string
  /** Whether it goes on. */
  open: boolean
}

/** In millionths of the currency: until the stretch ends, and if what goes on does so until the month ends. */
export interface Accrued {
  amount: bigint
  month: bigint
}

const HOUR = 3_600_000n

/**
 * What each stretch of one resource has cost, in the order of time: by the hour, and never more for one thing than its
 * monthly price.
 */
export function accrue(stretches: readonly Stretch[], monthEnd: string): Accrued[] {
  /** What each thing has cost before. */
  const before = new Map<string, bigint>()
  return stretches.map(({ sku, quantity, price_monthly, price_hourly, from_at, to_at, open }) => {
    const [spent, most] = [before.get(sku) ?? 0n, millionths(price_monthly, quantity)]
    // By the price of the moment: what was spent at a higher one stays spent.
    const upTo = (end: string) => {
      const length = BigInt(Date.parse(end) - Date.parse(from_at))
      const cost = spent + (millionths(price_hourly, quantity, 12) * length) / HOUR / 10n ** 6n
      return cost > most ? (spent > most ? spent : most) : cost
    }
    const now = upTo(to_at)
    before.set(sku, now)
    return { amount: now - spent, month: (open ? upTo(monthEnd) : now) - spent }
  })
}

/** The product of two exact decimals, in millionths unless finer; what is finer still is cut off. */
export function millionths(price: string, quantity: string, decimals = 6): bigint {
  const [a, b] = [parsed(price), parsed(quantity)]
  const product = a.digits * b.digits
  const shift = decimals - a.scale - b.scale
  return shift >= 0 ? product * 10n ** BigInt(shift) : product / 10n ** BigInt(-shift)
}

function parsed(decimal: string): { digits: bigint; scale: number } {
  const [whole = '0', part = ''] = decimal.split('.')
  return { digits: BigInt(whole + part), scale: part.length }
}

/** Half a cent up, away from zero. */
export function centsOf(millionths: bigint): bigint {
  const cents = ((millionths < 0n ? -millionths : millionths) + 5_000n) / 10_000n
  return millionths < 0n ? -cents : cents
}

/** `-1234567` → `-1.234567` */
export function decimalText(value: bigint, decimals = 6): string {
  const [sign, size] = value < 0n ? ['-', -value] : ['', value]
  const digits = String(size).padStart(decimals + 1, '0')
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** Hours that a month's list price is for, where the provider names no hourly one. */
export const HOURS_OF_PRICE = 672n

export const hourlyOf = (priceMonthly: string): string =>
  decimalText(millionths(priceMonthly, '1', 12) / HOURS_OF_PRICE, 12)
