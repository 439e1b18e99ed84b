// What a subscription's terms are: rows with dates, which say what held, holds and will hold; from when a change counts, and
// what it makes of the rows. Pure.
import type { Static } from 'typebox'
import { monthOf } from '../../kernel/time.ts'
import type { PlanItem } from '../catalog/index.ts'
import type { SubscriptionAddon } from './subscription.ts'

/** From its beginning to the first moment at which it no longer holds; null: until further notice. */
export interface Holding {
  valid_from: string
  valid_to: string | null
}

/** A plan version that holds. */
export interface VersionTerms extends Holding {
  plan_code: string
  plan_version_id: string
  base_price_cents: number
  items: PlanItem[]
}

/** An addon as it was agreed on when it was attached. */
export type AddonTerms = Static<typeof SubscriptionAddon>

/** Those of a stretch of time. Its versions follow one another without a gap. */
export interface SubscriptionTerms {
  subscription_id: string
  deployment_id: string
  currency: string
  trial_ends_at: string | null
  versions: VersionTerms[]
  addons: AddonTerms[]
}

const A_DAY = /^\d{4}-\d{2}-\d{2}$/

/** `now`, `next_period`, a day (its first moment, UTC) or a time. Undefined: there is no such day or time. */
export function effectiveAt(from: string, now: Date): string | undefined {
  if (from === 'now') return now.toISOString()
  if (from === 'next_period') return monthOf(now).end_at
  const [day, at] = [from.slice(0, 10), new Date(A_DAY.test(from) ? `${from}T00:00:00.000Z` : from)]
  const midnight = new Date(`${day}T00:00:00.000Z`)
  // A thirtieth of February would be taken for a day in March.
  const real = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  return real && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined
}

/** A row that never held: two changes in one moment leave one, and what was scheduled and is not to come. */
export const isVoid = ({ valid_from, valid_to }: Holding): boolean =>
  valid_to !== null && valid_to <= valid_from

/** When a row ends if it no longer holds from a time on: what has ended before stays so, what has not begun never holds. */
export function endAt({ valid_from, valid_to }: Holding, at: string): string {
  if (at <= valid_from) return valid_from
  return valid_to !== null && valid_to < at ? valid_to : at
}

/** The rows, each no longer than to a time. */
export const endedAt = <Row extends Holding>(rows: readonly Row[], at: string): Row[] =>
  rows.map(row => ({ ...row, valid_to: endAt(row, at) })).filter(row => !isVoid(row))

/** From a time on another version holds, instead of everything that was to hold then. */
export const withVersion = (
  terms: SubscriptionTerms,
  version: Omit<VersionTerms, keyof Holding>,
  at: string,
): SubscriptionTerms => ({
  ...terms,
  versions: [...endedAt(terms.versions, at), { ...version, valid_from: at, valid_to: null }],
})

export const withAddon = (terms: SubscriptionTerms, addon: AddonTerms): SubscriptionTerms => ({
  ...terms,
  addons: [...terms.addons, addon].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)),
})
const sortKey = ({ code, valid_from }: AddonTerms): string => `${code} ${valid_from}`

export const withoutAddon = (terms: SubscriptionTerms, id: string, at: string): SubscriptionTerms => ({
  ...terms,
  addons: terms.addons.flatMap(addon => (addon.id === id ? endedAt([addon], at) : [addon])),
})
