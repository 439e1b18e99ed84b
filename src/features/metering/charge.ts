// What use costs: units of time, prices and the slices of time in which they hold, and quotients that are exact and rounded
// once, never a float. Pure.
import { type ResourcePriceRow, TIME_UNITS } from '../catalog/index.ts'
import type { Month } from './period.ts'

/** Half away from zero. The divisor is positive. */
export function rounded(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend
  const nearest = (2n * size + divisor) / (2n * divisor)
  return dividend < 0n ? -nearest : nearest
}

/** As a decimal with at most so many places, without zeros at its end. */
export function decimal(dividend: bigint, divisor: bigint, places: number): string {
  const scaled = rounded(dividend * 10n ** BigInt(places), divisor)
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(places + 1, '0')
  const [whole, fraction] = [digits.slice(0, -places), digits.slice(-places).replace(/0+$/, '')]
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

// How long a resource lives for one unit of a price. Terms from before the catalog refused them may have a unit that
// measures anything but time (`gb_month`); nothing here counts those.

export type MeteredUnit = (typeof TIME_UNITS)[number]

export const isMetered = (unit: string | null): unit is MeteredUnit =>
  TIME_UNITS.some(metered => metered === unit)

/** A month is as long as the one it is charged in: a resource that lives throughout costs the price, in February too. */
export function secondsOf(unit: MeteredUnit, monthSeconds: bigint): bigint {
  if (unit === 'hour') return 3_600n
  return unit === 'day' ? 86_400n : monthSeconds
}

/** What is charged for one unit beyond what is included. */
export interface Rate {
  unit: string
  price_cents: number
}

/** Use at one rate; null: nothing is charged for it. */
export interface RatedUse {
  rate: Rate | null
  /** Resource-seconds beyond what is included. */
  over: bigint
}

/**
 * Every unit divides the month, so the month's seconds are a denominator for all of them, and the only division comes
 * last. A unit that is not metered costs nothing.
 */
export function chargeOf(uses: readonly RatedUse[], monthSeconds: bigint): bigint {
  const total = uses.reduce((sum, { rate, over }) => sum + chargeable(rate, over, monthSeconds), 0n)
  return rounded(total, monthSeconds)
}

/** Cents times the month's seconds. */
export function chargeable(rate: Rate | null, over: bigint, monthSeconds: bigint): bigint {
  if (rate === null || !isMetered(rate.unit)) return 0n
  return BigInt(rate.price_cents) * over * (monthSeconds / secondsOf(rate.unit, monthSeconds))
}

export const PLACES = 6

/** Resource-seconds in a unit, to be read; the charge is worked out from the seconds. Null: the unit is not metered. */
export function quantityIn(unit: string | null, seconds: bigint, monthSeconds: bigint): string | null {
  if (seconds === 0n) return '0'
  return isMetered(unit) ? decimal(seconds, secondsOf(unit, monthSeconds), PLACES) : null
}

export const hoursOf = (seconds: bigint): string => decimal(seconds, 3_600n, PLACES)

// A month, or a longer time, cut where resource prices begin or end, and at further hours: within a slice every price holds
// throughout. Prices change with the day (UTC), so every hour lies in one slice.

export type Price = Pick<
  ResourcePriceRow,
  'resource_kind' | 'unit' | 'price_cents' | 'currency' | 'effective_from' | 'effective_to'
>

export interface Slice {
  from_at: string
  to_at: string
}

export function slicesOf(
  { start_at, end_at }: Pick<Month, 'start_at' | 'end_at'>,
  prices: readonly Price[],
  hours: readonly string[] = [],
): Slice[] {
  const days = prices.flatMap(({ effective_from, effective_to }) => [
    effective_from,
    effective_to ?? effective_from,
  ])
  const turns = [...days.map(day => `${day}T00:00:00.000Z`), ...hours].filter(
    at => at > start_at && at < end_at,
  )
  const starts = [...new Set([start_at, ...turns])].sort()
  return starts.map((from_at, index) => ({ from_at, to_at: starts[index + 1] ?? end_at }))
}

/**
 * What a kind costs in a slice. Only prices in the currency asked for, and by a unit that measures it; of several the first,
 * for a resource the shortest.
 */
export function priceIn(
  { from_at }: Slice,
  prices: readonly Price[],
  kind: string,
  currency: string,
  units: readonly string[] = TIME_UNITS,
): Price | undefined {
  const day = from_at.slice(0, 10)
  const holding = prices.filter(
    price =>
      price.resource_kind === kind &&
      price.currency === currency &&
      price.effective_from <= day &&
      (price.effective_to === null || day < price.effective_to),
  )
  return units.flatMap(unit => holding.filter(price => price.unit === unit))[0]
}
