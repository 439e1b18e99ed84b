// What single days were charged beyond what plans include: hours of each kind, and meters that add up. Base prices and addons are
// the same on every day, and meters that hold one value for the month are no day's.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { chargeOf } from './charge.ts'
import { meterStatementLines } from './meter-usage.ts'
import { isWithin, monthAt } from './period.ts'
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
    for (const [deployment_id, of] of facts)
      for (const day of own)
        for (const [kind, amount_cents] of chargesOn(of, day))
          if (amount_cents !== 0n)
            rows.push({ deployment_id, day, kind, currency: currencyOf(of), amount_cents })
  }
  return rows
}

function chargesOn(facts: UsageFacts, day: string): [kind: string, cents: bigint][] {
  const isOnDay = isWithin([day])
  const kinds = kindsOf(facts).map((kind): [string, bigint] => [
    kind,
    chargeOf(usesOf(facts, kind).filter(isOnDay), facts.month.seconds),
  ])
  const meters = metersOf(facts)
    .filter(({ meter }) => meter.aggregation === 'sum')
    .map((of): [string, bigint] => {
      const lines = meterStatementLines(of, false).filter(
        ({ kind, from }) => kind === 'meter' && isOnDay({ from_at: from }),
      )
      return [of.meter.code, sum(lines.map(({ amount_cents }) => amount_cents))]
    })
  return [...kinds, ...meters]
}
