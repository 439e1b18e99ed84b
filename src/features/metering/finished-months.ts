// A month that is over keeps the prices that its usage was charged by: a resource price that would hold there another way
// is refused where anything of its kind was metered. Where nothing was, prices of the past may still be entered.

import type { Deps } from '../../deps.ts'
import { conflict } from '../../kernel/errors.ts'
import { monthOf } from '../../kernel/time.ts'
import { findMeters, type PriceGuard, TIME_UNITS, unitsOf } from '../catalog/index.ts'
import { findMeterUse } from '../usage-events/index.ts'
import { type Price, priceIn, type Slice, slicesOf } from './charge.ts'
import { monthAsked } from './period.ts'
import { findUse } from './store.ts'

export interface Repricing {
  resource_kind: string
  currency: string
  before: readonly Price[]
  after: readonly Price[]
}

/**
 * Before the end: the months in which the kind would have another price, if only on a day without usage, for a statement
 * shows the last one. Pure.
 */
export function repricedBefore(
  end_at: string,
  { resource_kind, currency, ...prices }: Repricing,
  units: readonly string[] = TIME_UNITS,
): Slice[] {
  const all = [...prices.before, ...prices.after]
  const first = all.map(({ effective_from }) => effective_from).sort()[0]
  const start_at = `${first}T00:00:00.000Z`
  if (first === undefined || start_at >= end_at) return []
  const rateIn = (slice: Slice, side: readonly Price[]) => {
    const price = priceIn(slice, side, resource_kind, currency, units)
    return price && `${price.price_cents} ${price.unit}`
  }
  return slicesOf({ start_at, end_at }, all)
    .filter(slice => rateIn(slice, prices.before) !== rateIn(slice, prices.after))
    .map(wholeMonths)
}

/** The whole months that a slice touches. */
function wholeMonths({ from_at, to_at }: Slice): Slice {
  return { from_at: monthOf(from_at).start_at, to_at: monthOf(new Date(Date.parse(to_at) - 1)).end_at }
}

/** For whoever writes resource prices, in the transaction that writes them. */
export const refuseFinishedMonths =
  ({ clock }: Pick<Deps, 'clock'>): PriceGuard =>
  async (tx, change) => {
    const running = monthAsked(undefined, clock.now())!
    const { resource_kind: kind } = change
    const meters = await findMeters(tx, [kind])
    const repriced = repricedBefore(running.start_at, change, unitsOf(kind, meters))
    const hour = await (meters.length > 0 ? findMeterUse : findUse)(tx, kind, repriced)
    if (hour === undefined) return
    const message = `${kind} was used in ${hour.slice(0, 7)}, and its price in a month that is over stays.`
    throw conflict('month_finished', `${message} From ${running.first_day} on it may change.`)
  }
