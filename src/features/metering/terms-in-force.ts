// What a deployment's subscription gives it in a month, and whether the month is paid for. Pure.
import type { SubscriptionTerms } from '../subscriptions/index.ts'
import type { Month } from './period.ts'

export interface TermsInForce extends SubscriptionTerms {
  /** The whole month lies in the trial: neither base price nor addons are charged. */
  free: boolean
}

/** Null: there was no subscription in that month. */
export const termsInForce = (
  terms: SubscriptionTerms | undefined,
  { end_at }: Pick<Month, 'end_at'>,
): TermsInForce | null =>
  terms ? { ...terms, free: terms.trial_ends_at !== null && terms.trial_ends_at >= end_at } : null

/** What of a kind is included: the plan's quantity and the addons'. */
export function includedOf(terms: TermsInForce | null, kind: string): bigint {
  if (terms === null) return 0n
  const item = terms.items.find(({ resource_kind }) => resource_kind === kind)
  return terms.addons
    .filter(addon => addon.resource_kind === kind)
    .reduce((sum, { qty, quantity }) => sum + BigInt(qty) * BigInt(quantity), BigInt(item?.included_qty ?? 0))
}

/** The kinds that the subscription speaks of. */
export const kindsOf = (terms: TermsInForce | null): string[] => [
  ...new Set([...(terms?.items ?? []), ...(terms?.addons ?? [])].map(({ resource_kind }) => resource_kind)),
]
