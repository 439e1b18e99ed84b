// Usage: what a deployment's month looks like in the API, and how it is worked out from its terms, prices and metered hours: of
// each kind what was used, what of it is included and what the rest costs, so far and for the whole month. Pure.
import { Type } from 'typebox'
import { Decimal, Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { type MeterRow, type PlanItem, unitsOf } from '../catalog/index.ts'
import type { SubscriptionTerms } from '../subscriptions/index.ts'
import type { MeterCount, MeterSum } from '../usage-events/index.ts'
import { chargeOf, hoursOf, type Price, priceIn, quantityIn, type Rate, type Slice } from './charge.ts'
import { type MeterRate, MeterUsage, meterLine } from './meter-usage.ts'
import type { Month } from './period.ts'
import type { UsageSum } from './store.ts'

const Day = Type.String({ format: 'date' })

const KindUsage = noun('KindUsage', {
  kind: Type.String(),
  used: Decimal('Resource-hours so far, rounded to six places.'),
  used_seconds: Whole('The same, exactly: what charges are worked out from.'),
  live: Nullable(Type.Integer({ description: 'How many there are now; null for a month that is over.' })),
  included: Whole('How many may live all the time at no further cost: the plan’s and the addons’.'),
  overage_seconds: Whole('Resource-seconds beyond that, hour by hour.'),
  overage_qty: Nullable(Decimal('The same in the unit; null where the unit is not one of time.')),
  overage_unit: Nullable(Type.String({ description: '`hour`, `day` and `month` are charged.' })),
  overage_price_cents: Nullable(Type.Integer({ description: 'For one unit; null: there is no price.' })),
  price_source: Nullable(
    Type.String({ pattern: '^(plan|resource_price)$', description: '`plan` or `resource_price`.' }),
  ),
  overage_cents: Whole('So far; rounded once, half a cent up.'),
  forecast_cents: Whole('For the whole month.'),
  cap: Nullable(
    Type.Integer({ description: 'The plan’s `hard_cap_qty`, which addons do not raise; null: none.' }),
  ),
})

export const Usage = noun('Usage', {
  deployment_id: Id,
  tenant_id: Type.String(),
  period: Type.String(),
  period_start: Day,
  period_end: Type.String({ ...Day, description: 'The last day.' }),
  metered_until: Nullable(
    Type.String({ ...Time, description: 'Up to when the month is metered; null: not yet.' }),
  ),
  plan_code: Nullable(Type.String({ description: 'Null: not subscribed in that month.' })),
  plan_version_id: Nullable(Id),
  currency: Type.String(),
  base_price_cents: Whole('For the whole month; 0 while the trial lasts all of it.'),
  addons: Type.Array(
    Type.Object({
      code: Type.String(),
      resource_kind: Type.String(),
      qty: Type.Integer({ description: 'What one of it adds.' }),
      price_cents: Type.Integer({ description: 'Of one, when it was attached.' }),
      quantity: Type.Integer(),
      amount_cents: Whole('For the whole month.'),
    }),
  ),
  kinds: Type.Array(KindUsage, { description: 'In the order of their names.' }),
  meters: Type.Array(MeterUsage, {
    description:
      'What usage events have told: meters that the plan speaks of or that were used, in the order of their codes.',
  }),
  total_cents: Whole('Base price, addons, and what was used beyond them so far.'),
  forecast_cents: Whole('The month’s total if what lives now lives on to its end.'),
})

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

/** What prices are in for a deployment that has no plan: the catalog's own default. */
const WITHOUT_PLAN = 'USD'

export interface UsageFacts {
  month: Month
  now: string
  terms: TermsInForce | null
  slices: readonly Slice[]
  prices: readonly Price[]
  uses: readonly Pick<UsageSum, 'kind' | 'slice' | 'seconds' | 'over'>[]
  meters: readonly MeterRow[]
  meterSums: readonly Omit<MeterSum, 'deployment_id'>[]
  meterCounts: readonly Omit<MeterCount, 'deployment_id'>[]
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
  const codes = new Set(facts.meters.map(({ code }) => code))
  const kinds = [...names]
    .filter(kind => !codes.has(kind))
    .sort()
    .map(kind => kindLine(facts, kind, currency))
  const meters = meterLines(facts, currency)
  const overages = [...kinds, ...meters]
  const fixed = sum([base_price_cents, ...addons.map(({ amount_cents }) => amount_cents)])
  return {
    plan_code: terms?.plan_code ?? null,
    plan_version_id: terms?.plan_version_id ?? null,
    currency,
    base_price_cents,
    addons,
    kinds,
    meters,
    total_cents: fixed + sum(overages.map(({ overage_cents }) => overage_cents)),
    forecast_cents: fixed + sum(overages.map(({ forecast_cents }) => forecast_cents)),
  }
}

/** Of the meters that the subscription speaks of or that were used. */
function meterLines(facts: UsageFacts, currency: string) {
  const { month, now, terms, prices, meterSums, meterCounts } = facts
  const named = new Set([...kindsOf(terms), ...[...meterSums, ...meterCounts].map(({ meter }) => meter)])
  return facts.meters
    .filter(({ code }) => named.has(code))
    .map(meter => {
      const { code } = meter
      const item = terms?.items.find(({ resource_kind }) => resource_kind === code)
      const units = unitsOf(code, facts.meters)
      const agreed = agreedRate(item)
      const rateIn = (slice: Slice): MeterRate | null => {
        if (agreed && units.includes(agreed.unit)) return { ...agreed, source: 'plan' }
        const price = priceIn(slice, prices, code, currency, units)
        return price ? { ...price, source: 'resource_price' } : null
      }
      const included = includedOf(terms, code)
      return meterLine({
        meter,
        month,
        now,
        slices: facts.slices.map(slice => ({ ...slice, included, rate: rateIn(slice) })),
        sums: meterSums.filter(sums => sums.meter === code),
        members: meterCounts.find(counts => counts.meter === code)?.members ?? 0,
        cap: item?.hard_cap_qty ?? null,
      })
    })
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
