// The statements of a month for many deployments: a handful of queries, however many there are. What is not metered yet is
// left out by its time, so that an hour metered meanwhile is in all sums or in none.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { findMeters, listPricesBetween } from '../catalog/index.ts'
import { type BilledDeployment, listBilled } from '../deployments/index.ts'
import { countLiving } from '../inventory/index.ts'
import { findTerms } from '../subscriptions/index.ts'
import { countMembers, sumMeters } from '../usage-events/index.ts'
import { slicesOf } from './charge.ts'
import { endOfHour, hourOf, type Month, monthOfQuery } from './period.ts'
import { lastHour, sumUsage } from './store.ts'
import { includedOf, kindsOf, termsInForce, type UsageStatement, usageStatement } from './usage.ts'

interface UsageOfMonth {
  /** How far the month is metered; null: not at all. */
  metered_until: string | null
  /** By deployment. */
  statements: Map<string, UsageStatement>
}

const SECONDS_OF_AN_HOUR = 3_600n

export async function readUsage(
  db: Executor,
  now: Date,
  month: Month,
  deployments: readonly BilledDeployment[],
  { forecast }: { forecast: boolean },
): Promise<UsageOfMonth> {
  const ids = deployments.map(({ id }) => id)
  const last = await lastHour(db)
  const until = last === null ? null : endOfHour(last)
  const held = await findTerms(db, ids, { from: month.start_at, last: month.last_moment })
  const subscribed = new Map(held.map(terms => [terms.deployment_id, terms]))
  const inForce = new Map(ids.map(id => [id, termsInForce(subscribed.get(id), month)]))
  const allowances = [...inForce].flatMap(([deployment_id, terms]) =>
    kindsOf(terms).map(kind => ({
      deployment_id,
      kind,
      seconds: includedOf(terms, kind) * SECONDS_OF_AN_HOUR,
    })),
  )
  const prices = await listPricesBetween(db, month.first_day, month.last_day)
  const slices = slicesOf(month, prices)
  const uses = groupedBy(await sumUsage(db, ids, slices, until ?? month.start_at, allowances))
  // Events count when they come in: a month's meters are as they stand, however far its hours are metered.
  const meters = await findMeters(db)
  const stretches = ids.flatMap(deployment_id =>
    slices.map((slice, index) => ({ deployment_id, slice: index, ...slice })),
  )
  const meterSums = groupedBy(meters.length > 0 ? await sumMeters(db, stretches) : [])
  const meterCounts = groupedBy(meters.length > 0 ? await countMembers(db, ids, month.first_day) : [])
  const carriesOn = forecast && month.current
  const living = groupedBy(carriesOn ? await countLiving(db, ids) : [])
  const carriedFrom = later(until ?? hourOf(now.toISOString()), month.start_at)
  const statements = deployments.map(({ id }): [string, UsageStatement] => [
    id,
    usageStatement({
      month,
      now: now.toISOString(),
      terms: inForce.get(id)!,
      slices,
      prices,
      uses: uses.get(id) ?? [],
      meters,
      meterSums: meterSums.get(id) ?? [],
      meterCounts: meterCounts.get(id) ?? [],
      living: carriesOn ? new Map(living.get(id)?.map(row => [row.kind, row.living])) : null,
      carriedFrom,
    }),
  ])
  return { metered_until: meteredUntil(until, month), statements: new Map(statements) }
}

function meteredUntil(until: string | null, { start_at, end_at }: Month): string | null {
  if (until === null || until <= start_at) return null
  return until < end_at ? until : end_at
}

const later = (a: string, b: string): string => (a > b ? a : b)

function groupedBy<Row extends { deployment_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, row => row.deployment_id)
}

/** A deployment's usage in a month. */
export async function showUsage({ db, clock }: Deps, scope: Scope, id: string, period?: string) {
  const now = clock.now()
  const month = monthOfQuery(period, now)
  const [deployment] = await listBilled(db, scope, { id }, 1, null)
  if (!deployment) throw notFound()
  const { metered_until, statements } = await readUsage(db, now, month, [deployment], { forecast: true })
  return {
    deployment_id: id,
    tenant_id: deployment.tenant_id,
    period: month.period,
    period_start: month.first_day,
    period_end: month.last_day,
    metered_until,
    ...statements.get(id)!,
  }
}
