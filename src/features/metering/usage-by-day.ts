// A month as it builds up: what it has come to by the end of each of its days, and for those to come what it may come to. The
// arithmetic of usage, up to each midnight. Pure.
import { Type } from 'typebox'
import { Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { chargeable, rounded } from './charge.ts'
import { meterCentsBy } from './meter-usage.ts'
import { dayAfter, type Month, startOf } from './period.ts'
import { fixedCharges, sum } from './proration.ts'
import { kindsOf, metersOf, type SliceUse, type UsageFacts, usesOf } from './usage.ts'

export const UsageByDay = noun('UsageByDay', {
  deployment_id: Id,
  tenant_id: Type.String(),
  period: Type.String(),
  currency: Type.String(),
  metered_until: Nullable(
    Type.String({ ...Time, description: 'Up to when the month is metered; null: not yet.' }),
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date' }),
      forecast: Type.Boolean({ description: 'Whether the day is to come: if what lives now lives on.' }),
      base_cents: Whole('The base price for the part of the month up to then.'),
      addons_cents: Whole('The addons for that part.'),
      overage_cents: Whole('Resources beyond what is included, up to then.'),
      meters_cents: Whole(
        'What usage events come to beyond what is included, up to then. A `unique` meter is counted by the month and has one figure for all its days.',
      ),
      total_cents: Whole('All of these.'),
    }),
    {
      description:
        'Every day of the month, each with what came before it; today up to now. The last is the month’s forecast, or what it came to.',
    },
  ),
})

/** What the facts' slices are to be cut by. */
export function daysOf({ first_day, last_day }: Pick<Month, 'first_day' | 'last_day'>): string[] {
  const days: string[] = []
  for (let day = first_day; day <= last_day; day = dayAfter(day)) days.push(day)
  return days
}

/** The facts' slices are cut at every midnight. */
export function usageByDay(facts: UsageFacts) {
  const { month, now, terms } = facts
  const days = daysOf(month)
  const ends = days.map(day => startOf(dayAfter(day)))
  const kinds = kindsOf(facts).map(kind => kindCentsBy(usesOf(facts, kind), month.seconds, ends))
  const meters = metersOf(facts).map(meter => meterCentsBy(meter, ends))
  return days.map((day, index) => {
    const end = ends[index]!
    const forecast = startOf(day) > now
    const { base, addons } = fixedCharges(terms, { ...month, end_at: forecast || end < now ? end : now })
    const fixed = (lines: readonly { amount_cents: bigint }[]) =>
      sum(lines.map(({ amount_cents }) => amount_cents))
    const charged = (each: readonly CentsByDay[]) =>
      sum(each.map(({ so_far, foreseen }) => (forecast ? foreseen : so_far)[index]!))
    const parts = {
      base_cents: fixed(base),
      addons_cents: fixed(addons),
      overage_cents: charged(kinds),
      meters_cents: charged(meters),
    }
    return { day, forecast, ...parts, total_cents: sum(Object.values(parts)) }
  })
}

/** One for each day's end. */
export interface CentsByDay {
  so_far: bigint[]
  foreseen: bigint[]
}

/** What a kind has cost by the end of each day; rounded once for each. */
function kindCentsBy(uses: readonly SliceUse[], monthSeconds: bigint, ends: readonly string[]): CentsByDay {
  const by = (seconds: (use: SliceUse) => bigint) =>
    ends.map(end => {
      const before = uses.filter(({ to_at }) => to_at <= end)
      return rounded(sum(before.map(use => chargeable(use.rate, seconds(use), monthSeconds))), monthSeconds)
    })
  return { so_far: by(({ over }) => over), foreseen: by(({ over, ahead }) => over + ahead) }
}
