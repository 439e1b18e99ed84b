// What a meter's month comes to and costs: its events added up as the meter says, what of it is included and what the rest
// costs, so far and for the whole month. Pure; in billionths of the unit, exact, and rounded once.
import { Type } from 'typebox'
import { Decimal, Nullable, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import type { MeterRow } from '../catalog/index.ts'
import type { StatementLine } from '../subscriptions/index.ts'
import type { MeterSum } from '../usage-events/index.ts'
import { decimal, PLACES, rounded, type Slice } from './charge.ts'
import type { Month } from './period.ts'
import { dealt, sum } from './proration.ts'
import { inOnePiece, type SourcedRate } from './slice-terms.ts'

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

/** What terms and prices say of the meter. */
interface MeterTerms {
  /** For a whole month, in times the scale. */
  included: bigint
  rate: SourcedRate | null
}

/** A part of the month in which terms and prices hold throughout. */
export interface MeterSlice extends Slice, MeterTerms {}

export interface MeterFacts {
  meter: Pick<MeterRow, 'code' | 'name' | 'aggregation' | 'unit' | 'scale'>
  month: Pick<Month, 'start_at' | 'end_at' | 'seconds'>
  now: string
  /** One after the other, the whole month. */
  slices: readonly MeterSlice[]
  /** What has held last. */
  last: MeterTerms
  sums: readonly Pick<MeterSum, 'slice' | 'total' | 'highest' | 'last'>[]
  /** How many different things there were. */
  members: number
  cap: number | null
}

/** A part of the month and what goes beyond what is included there: so far, and as the month may end. */
interface SliceOver extends Slice {
  rate: SourcedRate | null
  over: bigint
  foreseen: bigint
}

/** All quantities divided by `divisor` are in times the scale. */
interface MeterOver {
  divisor: bigint
  used: bigint
  foreseen: bigint
  included: bigint
  slices: SliceOver[]
}

export function meterLine(facts: MeterFacts) {
  const { meter, slices, now, cap } = facts
  const { code, name, aggregation, unit, scale } = meter
  const { divisor, used, included, slices: parts } = overOf(facts)
  const shown = slices.findLast(({ rate, from_at }) => rate !== null && from_at <= now)?.rate ?? null
  const cents = (quantity: (part: SliceOver) => bigint) =>
    rounded(sum(parts.map(part => quantity(part) * priceOf(part))), divisor)
  return {
    ...{ meter: code, name, aggregation, unit, scale },
    used: decimal(used * BigInt(scale), divisor, UNIT_PLACES),
    included: decimal(included, divisor, PLACES),
    overage_qty: decimal(sum(parts.map(({ over }) => over)), divisor, PLACES),
    overage_price_cents: shown?.price_cents ?? null,
    price_source: shown?.source ?? null,
    overage_cents: cents(({ over }) => over),
    forecast_cents: cents(({ foreseen }) => foreseen),
    cap,
  }
}

/** What has gone beyond by each of these times costs; the slices are cut at them. How many there were is known of the month alone. */
export function meterCentsBy(facts: MeterFacts, ends: readonly string[]) {
  const { slices: cut, sums } = facts
  const whole = overOf(facts)
  const by = (quantity: (part: SliceOver) => bigint) =>
    ends.map(end => {
      // One value counts for the whole month: that of the time.
      const known = sums.filter(({ slice }) => cut[slice]!.to_at <= end)
      const { divisor, slices } = isSummed(facts) ? whole : held({ ...facts, sums: known })
      const parts = isSummed(facts) ? slices.filter(({ to_at }) => to_at <= end) : slices
      return rounded(sum(parts.map(part => quantity(part) * priceOf(part))), divisor)
    })
  return { so_far: by(({ over }) => over), foreseen: by(({ foreseen }) => foreseen) }
}

/** The same as lines of a statement: what is within, and what goes beyond at each price. */
export function meterStatementLines(facts: MeterFacts, foreseen: boolean): StatementLine[] {
  const { month, meter } = facts
  const { divisor, slices, ...whole } = overOf(facts)
  const quantityOf = (part: SliceOver) => (foreseen ? part.foreseen : part.over)
  const pieces = inOnePiece(slices, (a, b) => ({ over: a.over + b.over, foreseen: a.foreseen + b.foreseen }))
  const beyond = pieces.filter(part => quantityOf(part) > 0n)
  const within = (foreseen ? whole.foreseen : whole.used) - sum(beyond.map(quantityOf))
  const amounts = dealt(
    beyond.map(part => quantityOf(part) * priceOf(part)),
    divisor,
  )
  const line = {
    code: meter.code,
    subject_id: null,
    unit: meter.scale === 1 ? meter.unit : `${meter.scale} ${meter.unit}`,
  }
  const included: StatementLine = {
    ...{ kind: 'included', ...line, from: month.start_at, to: month.end_at },
    ...{
      quantity: decimal(within, divisor, PLACES),
      price_cents: null,
      price_source: null,
      amount_cents: 0n,
    },
  }
  return [
    ...(within > 0n ? [included] : []),
    ...beyond.map((part, index) => ({
      ...{ kind: 'meter' as const, ...line, from: part.from_at, to: part.to_at },
      quantity: decimal(quantityOf(part), divisor, PLACES),
      price_cents: part.rate?.price_cents ?? null,
      price_source: part.rate?.source ?? null,
      amount_cents: amounts[index]!,
    })),
  ]
}

/** What each slice costs so far, in order; they add up to what a statement would say. */
export function meterSlices(facts: MeterFacts): (Slice & { amount_cents: bigint })[] {
  const { divisor, slices } = overOf(facts)
  const amounts = dealt(
    slices.map(part => part.over * priceOf(part)),
    divisor,
  )
  return slices.map(({ from_at, to_at }, index) => ({ from_at, to_at, amount_cents: amounts[index]! }))
}

const isSummed = ({ meter }: MeterFacts): boolean => meter.aggregation === 'sum'

const overOf = (facts: MeterFacts): MeterOver => (isSummed(facts) ? summed(facts) : held(facts))

const priceOf = ({ rate }: SliceOver): bigint => BigInt(rate?.price_cents ?? 0)

/**
 * What is included is for the part of the month in which the terms hold, and is used up in the order of time; each slice's
 * rest costs what its terms or its days say. All quantities are multiplied by the month's seconds, and by the seconds that
 * have passed, for the forecast's pace; so nothing is divided before the end.
 */
function summed({ meter, month, now, slices, sums }: MeterFacts): MeterOver {
  const step = BigInt(meter.scale) * NANO
  const passed = secondsOf({ from_at: month.start_at, to_at: now < month.end_at ? now : month.end_at }) || 1n
  const factor = passed * month.seconds
  const totals = slices.map((_, index) => sums.find(({ slice }) => slice === index)?.total ?? 0n)
  const used = sum(totals)
  const included = sum(slices.map(slice => slice.included * secondsOf(slice))) * step * passed
  const beyond = (quantities: bigint[]): bigint[] => {
    let left = included
    return quantities.map(quantity => {
      const over = quantity > left ? quantity - left : 0n
      left = quantity > left ? 0n : left - quantity
      return over
    })
  }
  const ahead = slices.map(({ from_at, to_at }) =>
    secondsOf({ from_at: from_at > now ? from_at : now, to_at }),
  )
  const foreseen = totals.map((total, index) => total * factor + used * ahead[index]! * month.seconds)
  const over = beyond(totals.map(total => total * factor))
  const foreseenOver = beyond(foreseen)
  return {
    divisor: step * factor,
    used: used * factor,
    foreseen: sum(foreseen),
    included,
    slices: slices.map(({ from_at, to_at, rate }, index) => ({
      ...{ from_at, to_at, rate, over: over[index]!, foreseen: foreseenOver[index]! },
    })),
  }
}

/** One value for the whole month: by the terms and the price that have held last. */
function held({ meter, month, last, sums, members }: MeterFacts): MeterOver {
  const step = BigInt(meter.scale) * NANO
  const used =
    meter.aggregation === 'unique'
      ? BigInt(members) * NANO
      : meter.aggregation === 'max'
        ? sums.reduce((most, { highest }) => (highest > most ? highest : most), 0n)
        : (sums.toSorted((a, b) => a.slice - b.slice).at(-1)?.last ?? 0n)
  const included = last.included * step
  const over = used > included ? used - included : 0n
  const whole = { from_at: month.start_at, to_at: month.end_at, rate: last.rate }
  return { divisor: step, used, foreseen: used, included, slices: [{ ...whole, over, foreseen: over }] }
}

/** Whole seconds; none when it ends before it begins. */
const secondsOf = ({ from_at, to_at }: Slice): bigint =>
  BigInt(Math.max(0, Math.floor((Date.parse(to_at) - Date.parse(from_at)) / 1000)))
