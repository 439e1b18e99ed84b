// What a meter's month comes to and costs: its events added up as the meter says, what of it is included and what the rest
// costs, so far and for the whole month. Pure; in billionths of the unit, exact, and rounded once.
import { Type } from 'typebox'
import { Decimal, Nullable, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import type { MeterRow } from '../catalog/index.ts'
import type { MeterSum } from '../usage-events/index.ts'
import { decimal, type Rate, rounded, type Slice } from './charge.ts'
import type { Month } from './period.ts'

export const MeterUsage = noun('MeterUsage', {
  meter: Type.String(),
  name: Type.String(),
  aggregation: Type.String({ description: '`sum`, `max`, `last` or `unique`.' }),
  unit: Type.String(),
  scale: Type.Integer({ description: 'So many units are one of what is included and priced.' }),
  used: Decimal('In units: what the month’s events come to so far.'),
  included: Decimal(
    'How many times the scale the plan and the addons include. Of a `sum` for the part of the month in which they hold.',
  ),
  overage_qty: Decimal('How many times the scale goes beyond, to six places.'),
  overage_price_cents: Nullable(
    Type.Integer({ description: 'For one time the scale; null: there is no price.' }),
  ),
  price_source: Nullable(
    Type.String({ pattern: '^(plan|resource_price)$', description: '`plan` or `resource_price`.' }),
  ),
  overage_cents: Whole('So far; rounded once, half a cent up.'),
  forecast_cents: Whole('For the whole month: a `sum` goes on at the month’s pace, the others stay.'),
  cap: Nullable(
    Type.Integer({ description: 'The plan’s `hard_cap_qty`, in times the scale; nothing enforces it.' }),
  ),
})

const NANO = 1_000_000_000n
const UNIT_PLACES = 9
const PLACES = 6

export interface MeterRate extends Rate {
  source: 'plan' | 'resource_price'
}

/** A part of the month in which terms and prices hold throughout. */
export interface MeterSlice extends Slice {
  /** What the terms include for a whole month, in times the scale. */
  included: bigint
  rate: MeterRate | null
}

export interface MeterFacts {
  meter: Pick<MeterRow, 'code' | 'name' | 'aggregation' | 'unit' | 'scale'>
  month: Pick<Month, 'start_at' | 'end_at' | 'seconds'>
  now: string
  /** One after the other, the whole month. */
  slices: readonly MeterSlice[]
  sums: readonly Pick<MeterSum, 'slice' | 'total' | 'highest' | 'last'>[]
  /** How many different things there were. */
  members: number
  cap: number | null
}

export function meterLine(facts: MeterFacts) {
  const { meter, slices, now, cap } = facts
  const { code, name, aggregation, unit, scale } = meter
  const shown = slices.findLast(({ rate, from_at }) => rate !== null && from_at <= now)?.rate ?? null
  const { used, included, over, overage_cents, forecast_cents } =
    aggregation === 'sum' ? summed(facts) : held(facts)
  return {
    ...{ meter: code, name, aggregation, unit, scale },
    used: decimal(used, NANO, UNIT_PLACES),
    included,
    overage_qty: over,
    overage_price_cents: shown?.price_cents ?? null,
    price_source: shown?.source ?? null,
    overage_cents,
    forecast_cents,
    cap,
  }
}

/**
 * What is included is for the part of the month in which the terms hold, and is used up in the order of time; each slice's
 * rest costs what its terms or its days say. All amounts are multiplied by the month's seconds, and by the seconds that have
 * passed, for the forecast's pace; so nothing is divided before the end.
 */
function summed({ meter, month, now, slices, sums }: MeterFacts) {
  const step = BigInt(meter.scale) * NANO
  const passed = secondsOf({ from_at: month.start_at, to_at: now < month.end_at ? now : month.end_at }) || 1n
  const totals = slices.map((_, index) => sums.find(({ slice }) => slice === index)?.total ?? 0n)
  const used = sum(totals)
  const factor = passed * month.seconds
  const included = sum(slices.map(slice => slice.included * secondsOf(slice))) * step * passed
  const beyond = (quantities: bigint[]): bigint[] => {
    let left = included
    return quantities.map(quantity => {
      const over = quantity > left ? quantity - left : 0n
      left = quantity > left ? 0n : left - quantity
      return over
    })
  }
  const charge = (overs: bigint[]): bigint =>
    rounded(
      sum(overs.map((over, index) => over * BigInt(slices[index]!.rate?.price_cents ?? 0))),
      factor * step,
    )
  const over = beyond(totals.map(total => total * factor))
  const ahead = slices.map(({ from_at, to_at }) =>
    secondsOf({ from_at: from_at > now ? from_at : now, to_at }),
  )
  const forecast = beyond(totals.map((total, index) => total * factor + used * ahead[index]! * month.seconds))
  return {
    used,
    included: decimal(included, step * factor, PLACES),
    over: decimal(sum(over), step * factor, PLACES),
    overage_cents: charge(over),
    forecast_cents: charge(forecast),
  }
}

/** One value for the whole month: by the terms and the price that have held last. */
function held({ meter, now, slices, sums, members }: MeterFacts) {
  const step = BigInt(meter.scale) * NANO
  const used =
    meter.aggregation === 'unique'
      ? BigInt(members) * NANO
      : meter.aggregation === 'max'
        ? sums.reduce((most, { highest }) => (highest > most ? highest : most), 0n)
        : (sums.toSorted((a, b) => a.slice - b.slice).at(-1)?.last ?? 0n)
  const last = slices.findLast(({ from_at }) => from_at <= now) ?? slices[0]!
  const over = used > last.included * step ? used - last.included * step : 0n
  const cents = rounded(over * BigInt(last.rate?.price_cents ?? 0), step)
  return {
    used,
    included: String(last.included),
    over: decimal(over, step, PLACES),
    overage_cents: cents,
    forecast_cents: cents,
  }
}

/** Whole seconds; none when it ends before it begins. */
const secondsOf = ({ from_at, to_at }: Slice): bigint =>
  BigInt(Math.max(0, Math.floor((Date.parse(to_at) - Date.parse(from_at)) / 1000)))

const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, part) => total + part, 0n)
