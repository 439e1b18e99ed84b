// How many of a kind a subscription allows. Pure.
import type { Entitlement } from '../subscriptions/index.ts'

/**
 * What is included and what addons add is paid for and always allowed. Beyond that only what has overage terms, up to the
 * hard cap; addons bought beyond the cap raise it. Null: no limit, because no plan speaks of the kind, or because its
 * overage has no cap.
 */
export function limitOf(entitlement: Entitlement | undefined): number | null {
  if (!entitlement?.item) return null
  const { included_qty, overage_price_cents, hard_cap_qty } = entitlement.item
  const paid = included_qty + entitlement.addon_qty
  if (overage_price_cents === null) return paid
  return hard_cap_qty === null ? null : Math.max(hard_cap_qty, paid)
}

/** Why there is no place left, in words for whoever asked. */
export function refusal(kind: string, limit: number, taken: number): string {
  return `the plan allows ${limit} of ${kind}, and ${taken} ${taken === 1 ? 'is' : 'are'} there or being made`
}
