// What terms and addons cost in a month: their price for the part of it in which they held, by the second (UTC), and not in the
// trial. The exact parts are added up, the sum is rounded once, and its cents are dealt out to the lines. Pure.
import type { AddonTerms, SubscriptionTerms } from '../subscriptions/index.ts'
import { rounded } from './charge.ts'
import type { Month } from './period.ts'

/**
 * Quotients of one divisor, each in whole numbers that add up to their sum, rounded half up: what is missing to it goes to
 * the largest remainders, of two alike to the earlier. Nothing is negative.
 */
export function dealt(dividends: readonly bigint[], divisor: bigint): bigint[] {
  const shares = dividends.map(dividend => dividend / divisor)
  const missing = rounded(sum(dividends), divisor) - sum(shares)
  const byRemainder = dividends
    .map((dividend, index) => ({ index, remainder: dividend % divisor }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder < b.remainder ? 1 : -1))
  for (const { index } of byRemainder.slice(0, Number(missing))) shares[index]! += 1n
  return shares
}

/** When something held within a month, and for how many of its seconds it is charged. */
export interface Held {
  from: string
  to: string
  seconds: bigint
}

export interface BaseCharge extends Held {
  plan_code: string
  plan_version_id: string
  /** For a whole month. */
  price_cents: number
  amount_cents: bigint
}

export interface AddonCharge extends Held, Omit<AddonTerms, 'valid_from' | 'valid_to' | 'currency'> {
  amount_cents: bigint
}

export interface FixedCharges {
  base: BaseCharge[]
  addons: AddonCharge[]
}

export function fixedCharges(
  terms: SubscriptionTerms | null,
  month: Pick<Month, 'start_at' | 'end_at' | 'seconds'>,
): FixedCharges {
  if (terms === null) return { base: [], addons: [] }
  const trialEnd = terms.trial_ends_at ?? month.start_at
  const within = (from: string, to: string | null): Held | null => {
    const [first, end] = [later(from, month.start_at), to === null || to > month.end_at ? month.end_at : to]
    if (first >= end) return null
    const seconds = secondOf(end) - secondOf(later(first, trialEnd))
    return { from: first, to: end, seconds: seconds > 0n ? seconds : 0n }
  }
  const base = inOnePiece(terms.versions).flatMap(({ valid_from, valid_to, ...version }) => {
    const held = within(valid_from, valid_to)
    const { plan_code, plan_version_id, base_price_cents: price_cents } = version
    return held ? [{ plan_code, plan_version_id, price_cents, ...held }] : []
  })
  // An addon is the subscription's: it ends with it at the latest.
  const end = terms.versions.at(-1)?.valid_to ?? null
  const addons = terms.addons.flatMap(({ valid_from, valid_to, currency: _, ...addon }) => {
    const held = within(valid_from, earliest(valid_to, end))
    return held ? [{ ...addon, ...held }] : []
  })
  const shares = dealt(
    [
      ...base.map(({ price_cents, seconds }) => BigInt(price_cents) * seconds),
      ...addons.map(({ price_cents, quantity, seconds }) => BigInt(price_cents) * BigInt(quantity) * seconds),
    ],
    month.seconds,
  )
  return {
    base: base.map((line, index) => ({ ...line, amount_cents: shares[index]! })),
    addons: addons.map((line, index) => ({ ...line, amount_cents: shares[base.length + index]! })),
  }
}

/** A version that followed itself is one. */
function inOnePiece(versions: SubscriptionTerms['versions']): SubscriptionTerms['versions'] {
  const pieces: SubscriptionTerms['versions'] = []
  for (const version of versions) {
    const before = pieces.at(-1)
    if (before?.plan_version_id === version.plan_version_id && before.valid_to === version.valid_from)
      pieces[pieces.length - 1] = { ...version, valid_from: before.valid_from }
    else pieces.push(version)
  }
  return pieces
}

/** Times count by the second they are in, as in metering, so that parts add up to the whole. */
const secondOf = (at: string): bigint => BigInt(Math.floor(Date.parse(at) / 1000))

const later = (a: string, b: string): string => (a > b ? a : b)

/** Null: never. */
function earliest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a < b ? a : b
}

export const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, part) => total + part, 0n)
