// Usage: what a deployment's month looks like in the API, and how it is worked out from its terms, prices and metered hours: of
// each kind what was used, what of it is included and what the rest costs, so far and for the whole month. Pure.
import { Type } from 'typebox'
import { Decimal, Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { type MeterRow, unitsOf } from '../catalog/index.ts'
import type { SubscriptionTerms } from '../subscriptions/index.ts'
import type { MeterCount, MeterSum } from '../usage-events/index.ts'
import { chargeOf, hoursOf, type Price, quantityIn, type Slice } from './charge.ts'
import { type MeterFacts, MeterUsage, meterLine } from './meter-usage.ts'
import type { Month } from './period.ts'
import { fixedCharges, sum } from './proration.ts'
import { agreedIn, includedIn, kindsIn, lastTerms, rateIn, termsIn } from './slice-terms.ts'
import type { UsageSum } from './store.ts'

const Day = Type.String({ format: 'date' })

const KindUsage = noun('KindUsage', {
  kind: Type.String(),
  used: Decimal('Resource-hours so far, rounded to six places.'),
  used_seconds: Whole('The same, exactly: what charges are worked out from.'),
  live: Nullable(Type.Integer({ description: 'How many there are now; null for a month that is over.' })),
  included: Whole(
    'How many may live at no further cost by the last terms that held: the plan’s and the addons’.',
  ),
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

const HELD = {
  from: Type.String({ ...Time, description: 'From when it holds within the month.' }),
  to: Type.String({ ...Time, description: 'Up to when, scheduled changes included.' }),
  seconds: Whole('For how many seconds of it that is charged: not for those of the trial.'),
  amount_cents: Whole(
    'The price for that part of the month; lines add up to their sum, which is rounded once.',
  ),
}

export const Usage = noun('Usage', {
  deployment_id: Id,
  tenant_id: Type.String(),
  period: Type.String(),
  period_start: Day,
  period_end: Type.String({ ...Day, description: 'The last day.' }),
  metered_until: Nullable(
    Type.String({ ...Time, description: 'Up to when the month is metered; null: not yet.' }),
  ),
  plan_code: Nullable(
    Type.String({ description: 'The last that held by now; null: not subscribed in that month.' }),
  ),
  plan_version_id: Nullable(Id),
  currency: Type.String(),
  base_price_cents: Whole(
    'For the whole month as it is known now: each version’s price for the part in which it holds, and nothing in the trial.',
  ),
  versions: Type.Array(
    Type.Object({
      plan_code: Type.String(),
      plan_version_id: Id,
      price_cents: Type.Integer({ description: 'Of a whole month.' }),
      ...HELD,
    }),
    { description: 'The plan versions that make up the base price.' },
  ),
  addons: Type.Array(
    Type.Object({
      id: Id,
      code: Type.String(),
      resource_kind: Type.String(),
      qty: Type.Integer({ description: 'What one of it adds.' }),
      price_cents: Type.Integer({ description: 'Of one for a whole month, when it was attached.' }),
      quantity: Type.Integer(),
      ...HELD,
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

/** What prices are in for a deployment that has no plan: the catalog's own default. */
const WITHOUT_PLAN = 'USD'

export interface UsageFacts {
  month: Month
  now: string
  terms: SubscriptionTerms | null
  /** Cut where prices begin or end, and at the hours from which other terms count. */
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
  const { base, addons } = fixedCharges(facts.terms, facts.month)
  const kinds = kindsOf(facts).map(kind => kindLine(facts, kind))
  const meters = metersOf(facts).map(meterLine)
  const overages = [...kinds, ...meters]
  const base_price_cents = sum(base.map(({ amount_cents }) => amount_cents))
  const fixed = base_price_cents + sum(addons.map(({ amount_cents }) => amount_cents))
  const last = lastHeld(facts)
  return {
    plan_code: last?.version.plan_code ?? null,
    plan_version_id: last?.version.plan_version_id ?? null,
    currency: currencyOf(facts),
    base_price_cents,
    versions: base,
    addons,
    kinds,
    meters,
    total_cents: fixed + sum(overages.map(({ overage_cents }) => overage_cents)),
    forecast_cents: fixed + sum(overages.map(({ forecast_cents }) => forecast_cents)),
  }
}

export const currencyOf = ({ terms }: Pick<UsageFacts, 'terms'>): string => terms?.currency ?? WITHOUT_PLAN

const soldIn = ({ terms, slices }: UsageFacts): string[] =>
  slices.flatMap(slice => kindsIn(termsIn(terms, slice.from_at)))

/** Of resources: all that are sold, used or there, in the order of their names. */
export const kindsOf = (facts: UsageFacts): string[] => {
  const { uses, living, meters } = facts
  const names = [...new Set([...soldIn(facts), ...uses.map(({ kind }) => kind), ...(living?.keys() ?? [])])]
  return names.filter(name => !meters.some(({ code }) => code === name)).sort()
}

/** Those that are sold or were used, by code. */
export function metersOf(facts: UsageFacts): MeterFacts[] {
  const { month, now, terms, slices, prices, meters, meterSums, meterCounts } = facts
  const named = new Set([...soldIn(facts), ...[...meterSums, ...meterCounts].map(({ meter }) => meter)])
  const held = lastHeld(facts)
  return meters
    .filter(({ code }) => named.has(code))
    .map(meter => {
      const { code } = meter
      const units = unitsOf(code, meters)
      const termed = (of: ReturnType<typeof termsIn>, slice: Slice) => ({
        included: includedIn(of, code),
        rate: rateIn(of, slice, prices, code, currencyOf(facts), units),
      })
      const begun = slices.findLast(({ from_at }) => from_at <= now) ?? slices[0]!
      return {
        meter,
        month,
        now,
        slices: slices.map(slice => ({ ...slice, ...termed(termsIn(terms, slice.from_at), slice) })),
        last: termed(held, begun),
        sums: meterSums.filter(sums => sums.meter === code),
        members: meterCounts.find(counts => counts.meter === code)?.members ?? 0,
        cap: agreedIn(held, code)?.hard_cap_qty ?? null,
      }
    })
}

/** What is shown of a month that is over is what it ended with. */
function lastHeld({ terms, month, now }: UsageFacts) {
  const last = new Date(Date.parse(month.end_at) - 1).toISOString()
  return lastTerms(terms, now < last ? now : last)
}

/** A kind in one slice: what was used of it, what of that goes beyond what is included, and what may still come. */
export interface SliceUse extends Slice {
  used: bigint
  over: bigint
  ahead: bigint
  rate: ReturnType<typeof rateIn>
}

export function usesOf(facts: UsageFacts, kind: string): SliceUse[] {
  const { terms, prices, living } = facts
  return facts.slices.map((slice, index) => {
    const held = termsIn(terms, slice.from_at)
    const uses = facts.uses.filter(use => use.kind === kind && use.slice === index)
    const beyond = BigInt(living?.get(kind) ?? 0) - includedIn(held, kind)
    return {
      ...slice,
      used: sum(uses.map(({ seconds }) => seconds)),
      over: sum(uses.map(({ over }) => over)),
      ahead: beyond > 0n ? beyond * secondsAhead(slice, facts.carriedFrom) : 0n,
      rate: rateIn(held, slice, prices, kind, currencyOf(facts)),
    }
  })
}

function kindLine(facts: UsageFacts, kind: string) {
  const { month, now, living } = facts
  const uses = usesOf(facts, kind)
  const last = lastHeld(facts)
  const charge = (seconds: (use: SliceUse) => bigint) =>
    chargeOf(
      uses.map(use => ({ rate: use.rate, over: seconds(use) })),
      month.seconds,
    )
  const used = sum(uses.map(use => use.used))
  const overage = sum(uses.map(({ over }) => over))
  // Where the price changed within the month, each hour has cost what it cost then; the last one is shown.
  const shown = uses.findLast(({ rate, from_at }) => rate !== null && from_at <= now)?.rate ?? null
  return {
    kind,
    used: hoursOf(used),
    used_seconds: used,
    live: living === null ? null : (living.get(kind) ?? 0),
    included: includedIn(last, kind),
    overage_seconds: overage,
    overage_qty: quantityIn(shown?.unit ?? null, overage, month.seconds),
    overage_unit: shown?.unit ?? null,
    overage_price_cents: shown?.price_cents ?? null,
    price_source: shown?.source ?? null,
    overage_cents: charge(({ over }) => over),
    forecast_cents: charge(({ over, ahead }) => over + ahead),
    cap: agreedIn(last, kind)?.hard_cap_qty ?? null,
  }
}

/** How much of a slice is still to come. */
function secondsAhead({ from_at, to_at }: Slice, carriedFrom: string): bigint {
  const from = Math.max(Date.parse(from_at), Date.parse(carriedFrom))
  return BigInt(Math.max(0, Date.parse(to_at) - from) / 1000)
}
