// What a month of many deployments is worked out from: a handful of queries, however many there are. What is not metered yet is
// left out by its time, so that an hour metered meanwhile is in all sums or in none.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { findMeters, listPricesBetween } from '../catalog/index.ts'
import { listBilled } from '../deployments/index.ts'
import { countLiving } from '../inventory/index.ts'
import { findTerms, type SubscriptionTerms } from '../subscriptions/index.ts'
import { countMembers, sumMeters } from '../usage-events/index.ts'
import { type Price, slicesOf } from './charge.ts'
import {
  dayAfter,
  endOfHour,
  hourOf,
  isWithin,
  type Month,
  monthAt,
  monthOfQuery,
  startOf,
} from './period.ts'
import { includedIn, kindsIn, termsIn, turnsOf } from './slice-terms.ts'
import { lastHour, sumUsage } from './store.ts'
import { currencyOf, type UsageFacts, usageStatement } from './usage.ts'
import { daysOf, usageByDay } from './usage-by-day.ts'

export interface FactsOfMonth {
  /** By deployment, how far the month is metered; null: not at all. */
  meteredUntil: ReadonlyMap<string, string | null>
  /** By deployment. */
  facts: Map<string, UsageFacts>
}

const SECONDS_OF_AN_HOUR = 3_600n

export interface Question {
  /** What time it is for those who have another than the time asked with. */
  time: TenantTime
  /** Whether what lives now is carried on to the end of a month that is not over. */
  forecast: boolean
  /** Terms to work with instead of those on record, for some of the deployments. */
  instead?: ReadonlyMap<string, SubscriptionTerms>
  /** Resource prices to work with instead of those on record. */
  repriced?: (prices: readonly Price[]) => readonly Price[]
  /** Days by which the month is cut as well: of hours, only those of these days are added up. */
  days?: readonly string[]
}

export async function readFacts(
  db: Executor,
  now: Date,
  month: Month,
  ids: string[],
  { time, forecast, instead, repriced = prices => prices, days }: Question,
): Promise<FactsOfMonth> {
  const last = await lastHour(db)
  const until = last === null ? null : endOfHour(last)
  const apart = await time.apart(db, ids)
  const meteredUntil = new Map(ids.map(id => [id, apart.get(id)?.toISOString() ?? until]))
  const held = await findTerms(db, ids, { from: month.start_at, to: month.end_at })
  const termsOf = new Map(held.map(terms => [terms.deployment_id, terms]))
  const prices = repriced(await listPricesBetween(db, month.first_day, month.last_day))
  const cuts = (days ?? []).flatMap(day => [startOf(day), startOf(dayAfter(day))])
  const cut = ids.map(deployment_id => {
    const terms = instead?.get(deployment_id) ?? termsOf.get(deployment_id) ?? null
    return { deployment_id, terms, slices: slicesOf(month, prices, [...turnsOf(terms), ...cuts]) }
  })
  const slices = cut.flatMap(({ deployment_id, terms, slices }) =>
    slices.map((slice, index) => ({
      deployment_id,
      slice: index,
      ...slice,
      held: termsIn(terms, slice.from_at),
    })),
  )
  const allowances = slices.flatMap(({ deployment_id, slice, held }) =>
    kindsIn(held).map(kind => ({
      deployment_id,
      slice,
      kind,
      seconds: includedIn(held, kind) * SECONDS_OF_AN_HOUR,
    })),
  )
  const metered = (days ? slices.filter(isWithin(days)) : slices).map(slice => ({
    ...slice,
    to_at: earlier(slice.to_at, meteredUntil.get(slice.deployment_id) ?? slice.from_at),
  }))
  const uses = groupedBy(await sumUsage(db, metered, allowances))
  // Events count when they come in: a month's meters are as they stand, however far its hours are metered.
  const meters = await findMeters(db)
  const meterSums = groupedBy(meters.length > 0 ? await sumMeters(db, slices) : [])
  const meterCounts = groupedBy(meters.length > 0 ? await countMembers(db, ids, month.first_day) : [])
  const timed = new Map(
    ids.map(id => {
      const own = apart.get(id) ?? now
      const ownMonth = own === now ? month : monthAt(month.period, own)
      return [id, { now: own.toISOString(), month: ownMonth, carriesOn: forecast && !ownMonth.over }]
    }),
  )
  const carried = ids.filter(id => timed.get(id)!.carriesOn)
  const living = groupedBy(carried.length > 0 ? await countLiving(db, carried) : [])
  const facts = cut.map(({ deployment_id: id, terms, slices }): [string, UsageFacts] => {
    const { now, month, carriesOn } = timed.get(id)!
    return [
      id,
      {
        month,
        now,
        terms,
        slices,
        prices,
        uses: uses.get(id) ?? [],
        meters,
        meterSums: meterSums.get(id) ?? [],
        meterCounts: meterCounts.get(id) ?? [],
        living: carriesOn ? new Map(living.get(id)?.map(row => [row.kind, row.living])) : null,
        carriedFrom: later(meteredUntil.get(id) ?? hourOf(now), month.start_at),
      },
    ]
  })
  return { meteredUntil, facts: new Map(facts) }
}

function meteredIn({ start_at, end_at }: Month, until: string | null): string | null {
  return until === null || until <= start_at ? null : earlier(until, end_at)
}

const earlier = (a: string, b: string): string => (a < b ? a : b)

const later = (a: string, b: string): string => (a > b ? a : b)

function groupedBy<Row extends { deployment_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, row => row.deployment_id)
}

type Asked = Pick<Deps, 'db' | 'tenantTime'>

async function readOne(
  { db, tenantTime: time }: Asked,
  scope: Scope,
  id: string,
  period: string | undefined,
  daysIn?: (month: Month) => string[],
) {
  const [deployment] = await listBilled(db, scope, { id }, 1, null)
  if (!deployment) throw notFound()
  const { tenant_id } = deployment
  const now = await time.of(db, tenant_id)
  const month = monthOfQuery(period, now)
  const asked = { time, forecast: true, days: daysIn?.(month) }
  const { meteredUntil, facts } = await readFacts(db, now, month, [id], asked)
  const metered_until = meteredIn(month, meteredUntil.get(id) ?? null)
  return {
    month,
    about: { deployment_id: id, tenant_id, period: month.period, metered_until },
    facts: facts.get(id)!,
  }
}

/** A deployment's usage in a month. */
export async function showUsage(deps: Asked, scope: Scope, id: string, period?: string) {
  const { month, about, facts } = await readOne(deps, scope, id, period)
  const days = { period_start: month.first_day, period_end: month.last_day }
  return { ...about, ...days, ...usageStatement(facts) }
}

/** The same month, day by day. */
export async function showUsageByDay(deps: Asked, scope: Scope, id: string, period?: string) {
  const { about, facts } = await readOne(deps, scope, id, period, daysOf)
  return { ...about, currency: currencyOf(facts), days: usageByDay(facts) }
}
