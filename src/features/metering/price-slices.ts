// A month, or a longer time, cut where resource prices begin or end: within a slice every price holds throughout. Pure.
// Prices change with the day (UTC), so every hour lies in one slice.
import type { ResourcePriceRow } from '../catalog/index.ts'
import type { Month } from './period.ts'
import { isMetered, METERED_UNITS } from './unit.ts'

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
): Slice[] {
  const turns = prices
    .flatMap(({ effective_from, effective_to }) => [effective_from, effective_to ?? effective_from])
    .map(day => `${day}T00:00:00.000Z`)
    .filter(at => at > start_at && at < end_at)
  const starts = [...new Set([start_at, ...turns])].sort()
  return starts.map((from_at, index) => ({ from_at, to_at: starts[index + 1] ?? end_at }))
}

/**
 * What a kind costs in a slice. Only prices in the currency asked for, and by a unit that is metered; of several units the
 * shortest.
 */
export function priceIn(
  { from_at }: Slice,
  prices: readonly Price[],
  kind: string,
  currency: string,
): Price | undefined {
  const day = from_at.slice(0, 10)
  const holding = prices.filter(
    price =>
      price.resource_kind === kind &&
      price.currency === currency &&
      isMetered(price.unit) &&
      price.effective_from <= day &&
      (price.effective_to === null || day < price.effective_to),
  )
  return METERED_UNITS.flatMap(unit => holding.filter(price => price.unit === unit))[0]
}
