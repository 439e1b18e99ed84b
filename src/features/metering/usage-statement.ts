// A deployment's month as a statement: of each kind what was used, what of it is included and what the rest costs, and
// the sum with base price and addons; so far, and for the whole month. Pure.
import type { PlanItem } from '../catalog/index.ts'
import { chargeOf, hoursOf, quantityIn, type Rate } from './kind-charge.ts'
import type { Month } from './period.ts'
import { type Price, priceIn, type Slice } from './price-slices.ts'
import type { UsageSum } from './repository.ts'
import { includedOf, kindsOf, type TermsInForce } from './terms-in-force.ts'

/** What prices are in for a deployment that has no plan: the catalog's own default. */
const WITHOUT_PLAN = 'USD'

export interface UsageFacts {
  month: Month
  now: string
  terms: TermsInForce | null
  slices: readonly Slice[]
  prices: readonly Price[]
  uses: readonly Pick<UsageSum, 'kind' | 'slice' | 'seconds' | 'over'>[]
  /** How many of each kind there are now, if they are to be carried on to the month's end; null: they are not. */
  living: ReadonlyMap<string, number> | null
  /** From when on. */
  carriedFrom: string
}

export type UsageStatement = ReturnType<typeof usageStatement>

export function usageStatement(facts: UsageFacts) {
  const { terms, uses, living } = facts
  const currency = terms?.currency ?? WITHOUT_PLAN
  const base_price_cents = terms && !terms.free ? BigInt(terms.base_price_cents) : 0n
  const addons = (terms?.addons ?? []).map(addon => ({
    ...addon,
    amount_cents: terms!.free ? 0n : BigInt(addon.price_cents) * BigInt(addon.quantity),
  }))
  const names = new Set([...kindsOf(terms), ...uses.map(({ kind }) => kind), ...(living?.keys() ?? [])])
  const kinds = [...names].sort().map(kind => kindLine(facts, kind, currency))
  const fixed = sum([base_price_cents, ...addons.map(({ amount_cents }) => amount_cents)])
  return {
    plan_code: terms?.plan_code ?? null,
    plan_version_id: terms?.plan_version_id ?? null,
    currency,
    base_price_cents,
    addons,
    kinds,
    total_cents: fixed + sum(kinds.map(({ overage_cents }) => overage_cents)),
    forecast_cents: fixed + sum(kinds.map(({ forecast_cents }) => forecast_cents)),
  }
}

function kindLine(facts: UsageFacts, kind: string, currency: string) {
  const { month, now, terms, slices, prices, living } = facts
  const item = terms?.items.find(({ resource_kind }) => resource_kind === kind)
  const included = includedOf(terms, kind)
  const agreed = agreedRate(item)
  const rates = slices.map(slice => agreed ?? priceIn(slice, prices, kind, currency) ?? null)
  const uses = slices.map((_, index) => facts.uses.filter(use => use.kind === kind && use.slice === index))
  const over = uses.map(parts => sum(parts.map(part => part.over)))
  const used = sum(uses.flat().map(part => part.seconds))
  const beyond = BigInt(living?.get(kind) ?? 0) - included
  const ahead = slices.map(slice => (beyond > 0n ? beyond * secondsAhead(slice, facts.carriedFrom) : 0n))
  const charge = (seconds: bigint[]) =>
    chargeOf(
      seconds.map((part, index) => ({ rate: rates[index]!, over: part })),
      month.seconds,
    )
  // Where the price changed within the month, each hour has cost what it cost that day; the last one is shown.
  const shown = rates.findLast((rate, index) => rate !== null && slices[index]!.from_at <= now) ?? null
  const overage = sum(over)
  return {
    kind,
    used: hoursOf(used),
    used_seconds: used,
    live: living === null ? null : (living.get(kind) ?? 0),
    included,
    overage_seconds: overage,
    overage_qty: quantityIn(shown?.unit ?? null, overage, month.seconds),
    overage_unit: shown?.unit ?? null,
    overage_price_cents: shown?.price_cents ?? null,
    price_source: shown && (agreed ? ('plan' as const) : ('resource_price' as const)),
    overage_cents: charge(over),
    forecast_cents: charge(over.map((part, index) => part + ahead[index]!)),
    cap: item?.hard_cap_qty ?? null,
  }
}

/** A plan may include a kind and agree on nothing beyond: then the resource prices hold there too. */
function agreedRate(item: PlanItem | undefined): Rate | null {
  if (item?.overage_unit == null || item.overage_price_cents === null) return null
  return { unit: item.overage_unit, price_cents: item.overage_price_cents }
}

/** How much of a slice is still to come. */
function secondsAhead({ from_at, to_at }: Slice, carriedFrom: string): bigint {
  const from = Math.max(Date.parse(from_at), Date.parse(carriedFrom))
  return BigInt(Math.max(0, Date.parse(to_at) - from) / 1000)
}

const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, part) => total + part, 0n)
