// What single days were charged beyond what plans include: hours of each kind, and meters that add up. Base prices and addons are
// the same on every day, and meters that hold one value for the month are no day's.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { chargeOf } from './charge.ts'
import { meterSlices } from './meter-usage.ts'
import { monthAt } from './period.ts'
import { sum } from './proration.ts'
import { readFacts } from './read-usage.ts'
import { currencyOf, kindsOf, metersOf, type UsageFacts, usesOf } from './usage.ts'

export interface DailyCharge {
  deployment_id: string
  day: string
  /** Of resources, or a meter. */
  kind: string
  currency: string
  amount_cents: bigint
}

/** Only what is charged: a day, or a kind, that costs nothing has no row. */
export async function dailyCharges(
  db: Executor,
  { time, now }: { time: TenantTime; now: Date },
  days: readonly string[],
  deploymentIds: string[],
): Promise<DailyCharge[]> {
  const rows: DailyCharge[] = []
  if (deploymentIds.length === 0) return rows
  for (const [period, own] of Map.groupBy(days, day => day.slice(0, 7))) {
    const month = monthAt(period, now)
    const { facts } = await readFacts(db, now, month, deploymentIds, { time, forecast: false, days: own })
    for (const [deployment_id, of] of facts) {
      const currency = currencyOf(of)
      for (const { day, kind, amount_cents } of chargesOn(of, own))
        if (amount_cents !== 0n) rows.push({ deployment_id, day, kind, currency, amount_cents })
    }
  }
  return rows
}

/** Each kind and each meter is worked out once, and then cut by its days. */
function chargesOn(
  facts: UsageFacts,
  days: readonly string[],
): Omit<DailyCharge, 'deployment_id' | 'currency'>[] {
  const kinds = kindsOf(facts).flatMap(kind => {
    const uses = Map.groupBy(usesOf(facts, kind), use => use.from_at.slice(0, 10))
    return days.map(day => ({ day, kind, amount_cents: chargeOf(uses.get(day) ?? [], facts.month.seconds) }))
  })
  const meters = metersOf(facts)
    .filter(({ meter }) => meter.aggregation === 'sum')
    .flatMap(of => {
      const slices = Map.groupBy(meterSlices(of), slice => slice.from_at.slice(0, 10))
      const cents = (day: string) => sum((slices.get(day) ?? []).map(({ amount_cents }) => amount_cents))
      return days.map(day => ({ day, kind: of.meter.code, amount_cents: cents(day) }))
    })
  return [...kinds, ...meters]
}
