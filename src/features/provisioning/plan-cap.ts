// How many of a kind a subscription allows. Pure.
import type { Entitlement } from '../subscriptions/index.ts'

/**
 * What is included and what addons add is paid for and always allowed. Beyond that a hard cap says how far, also where no
 * overage price is agreed (resource prices are the fallback); addons bought beyond the cap raise it. Without a cap, only
 * what has overage terms goes beyond. Null: no limit, because no plan speaks of the kind, or its overage has no cap.
 */
export function limitOf(entitlement: Entitlement | undefined): number | null {
  if (!entitlement?.item) return null
  const { included_qty, overage_price_cents, hard_cap_qty } = entitlement.item
  const paid = included_qty + entitlement.addon_qty
  if (hard_cap_qty !== null) return Math.max(hard_cap_qty, paid)
  return overage_price_cents === null ? paid : null
}

/** Why there is no place left, in words for whoever asked. */
export function refusal(kind: string, limit: number, taken: number): string {
  return `the plan allows ${limit} of ${kind}, and ${taken} ${taken === 1 ? 'is' : 'are'} there or being made`
}
