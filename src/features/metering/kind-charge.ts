// What a month's use of one kind costs. Pure, exact, and rounded once: half a cent goes up.
import { decimal, rounded } from './decimal.ts'
import { isMetered, secondsOf } from './unit.ts'

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
  const total = uses.reduce((sum, { rate, over }) => {
    if (rate === null || !isMetered(rate.unit)) return sum
    return sum + BigInt(rate.price_cents) * over * (monthSeconds / secondsOf(rate.unit, monthSeconds))
  }, 0n)
  return rounded(total, monthSeconds)
}

const PLACES = 6

/** Resource-seconds in a unit, to be read; the charge is worked out from the seconds. Null: the unit is not metered. */
export function quantityIn(unit: string | null, seconds: bigint, monthSeconds: bigint): string | null {
  if (seconds === 0n) return '0'
  return isMetered(unit) ? decimal(seconds, secondsOf(unit, monthSeconds), PLACES) : null
}

export const hoursOf = (seconds: bigint): string => decimal(seconds, 3_600n, PLACES)
