// How many of a kind a subscription allows. Pure.
import type { Entitlement } from '../subscriptions/index.ts'

/**
 * A hard cap is the limit, also where no overage price is agreed (resource prices are the fallback): addons raise what is
 * included, never the cap. Without a cap what is included and what addons add is allowed, and more where there are overage
 * terms. Null: no limit, because no plan speaks of the kind, or its overage has no cap.
 */
export function limitOf(entitlement: Entitlement | undefined): number | null {
  if (!entitlement?.item) return null
  const { included_qty, overage_price_cents, hard_cap_qty } = entitlement.item
  if (hard_cap_qty !== null) return hard_cap_qty
  return overage_price_cents === null ? included_qty + entitlement.addon_qty : null
}

/** Why there is no place left, in words for whoever asked. */
export function refusal(kind: string, limit: number, taken: number): string {
  return `the plan allows ${limit} of ${kind}, and ${taken} ${taken === 1 ? 'is' : 'are'} there or being made`
}
