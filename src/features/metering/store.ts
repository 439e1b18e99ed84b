// SQL of metering: hours are written once, and added up by whoever asks; and of what the provider charged for deployments and
// tenants.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { type LivingCount, livedWithin } from '../inventory/index.ts'
import type { Slice } from './charge.ts'

/** The last hour that is metered; all before it are. */
export async function lastHour(executor: Executor): Promise<string | null> {
  const { rows } = await sql<{ hour: string | null }>`select max(hour) as hour from metered_hours`.execute(
    executor,
  )
  return rows[0]!.hour
}

/** Nobody meters until the transaction ends. */
export async function lockMetering(tx: Executor): Promise<void> {
  await sql`lock table metered_hours in share row exclusive mode`.execute(tx)
}

/** From when to when hours are metered, without a gap; null: none is. */
export async function meteredSpan(executor: Executor): Promise<{ from: string; until: string } | null> {
  const { rows } = await sql<{ from: string | null; until: string }>`
    select min(hour) as from, max(hour) + interval '1 hour' as until from metered_hours`.execute(executor)
  const { from, until } = rows[0]!
  return from === null ? null : { from, until }
}

/** Those of the hours that nobody else has metered. Of two who claim an hour at once the second waits for the first. */
export async function claimHours(tx: Executor, hours: readonly string[], at: string): Promise<string[]> {
  const { rows } = await sql<{ hour: string }>`
    insert into metered_hours (hour, metered_at)
    select hour, ${at}::timestamptz from unnest(${hours}::timestamptz[]) hour order by hour
    on conflict (hour) do nothing returning hour`.execute(tx)
  return rows.map(row => row.hour).sort()
}

/**
 * Times count by the second they are in, so that the parts of a life add up to the whole of it, in whole seconds. A
 * resource that lived twice in an hour is one resource. The hours follow one another. The number of rows. A tenant under a test clock is
 * metered by that, and after it from its time on.
 */
export async function insertUsage(tx: Executor, hours: readonly string[], end: string): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into usage_hours (deployment_id, hour, kind, seconds, resources)
    select deployment_id, hour, kind, sum(seconds)::bigint, sum(resources)::int
    from (
      select deployment_id, hour, kind, sum(resources * seconds) as seconds,
        case when resource_id is null then sum(resources) else 1 end as resources
      from (
        select l.*, h.hour, floor(extract(epoch from least(l.to_at, h.hour + interval '1 hour')))
          - floor(extract(epoch from greatest(l.from_at, h.hour))) as seconds
        from ${livedWithin(hours[0]!, end)} l
        join unnest(${hours}::timestamptz[]) h (hour) on l.from_at < h.hour + interval '1 hour' and l.to_at > h.hour
      ) l
      where seconds > 0 and not exists (
        select from test_clocks c join cloud_deployments d on d.tenant_id = c.tenant_id
        where d.id = l.deployment_id and (c.ended_at is null or l.hour < c.now))
      group by deployment_id, hour, kind, resource_id
    ) l
    group by deployment_id, hour, kind`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

/** What lives for some deployments, as if it had lived through the hours; not before a deployment was made. */
export async function insertSimulated(
  tx: Executor,
  { from, to }: { from: string; to: string },
  living: readonly LivingCount[],
): Promise<void> {
  await sql`
    insert into usage_hours (deployment_id, hour, kind, seconds, resources)
    select d.id, h.hour, l.kind, l.living * s.seconds, l.living
    from unnest(${living.map(l => l.deployment_id)}::uuid[], ${living.map(l => l.kind)}::text[],
      ${living.map(l => l.living)}::int[]) l (deployment_id, kind, living)
    join cloud_deployments d on d.id = l.deployment_id
    cross join generate_series(${from}::timestamptz, ${to}::timestamptz - interval '1 hour', interval '1 hour') h (hour)
    cross join lateral (select (floor(extract(epoch from h.hour + interval '1 hour'))
      - floor(extract(epoch from greatest(h.hour, d.created_at))))::bigint as seconds) s
    where s.seconds > 0`.execute(tx)
}

/** An hour within one of the slices in which something of the kind lived for any deployment. */
export async function findUse(
  executor: Executor,
  kind: string,
  slices: readonly Slice[],
): Promise<string | undefined> {
  if (slices.length === 0) return undefined
  const { rows } = await sql<{ hour: string }>`
    select u.hour from usage_hours u
    join unnest(${slices.map(s => s.from_at)}::timestamptz[], ${slices.map(s => s.to_at)}::timestamptz[]) s (from_at, to_at)
      on u.hour >= s.from_at and u.hour < s.to_at
    where u.kind = ${kind} limit 1`.execute(executor)
  return rows[0]?.hour
}

/** One of a deployment's slices of a month. */
export interface OwnSlice extends Slice {
  deployment_id: string
  /** Which one it is. */
  slice: number
}

/** What a deployment may use of a kind within an hour of a slice before it costs anything. */
export interface Allowance {
  deployment_id: string
  slice: number
  kind: string
  seconds: bigint
}

export interface UsageSum {
  deployment_id: string
  kind: string
  slice: number
  seconds: bigint
  /** What went beyond the allowance, hour by hour. */
  over: bigint
}

type SummedUsage = Omit<UsageSum, 'seconds' | 'over'> & { seconds: string; over: string }

export async function sumUsage(
  executor: Executor,
  slices: readonly OwnSlice[],
  allowances: readonly Allowance[],
): Promise<UsageSum[]> {
  const { rows } = await sql<SummedUsage>`
    select u.deployment_id, u.kind, s.slice, sum(u.seconds)::text as seconds,
      sum(greatest(u.seconds - coalesce(a.seconds, 0), 0))::text as over
    from unnest(${slices.map(s => s.deployment_id)}::uuid[], ${slices.map(s => s.slice)}::int[],
      ${slices.map(s => s.from_at)}::timestamptz[], ${slices.map(s => s.to_at)}::timestamptz[])
      s (deployment_id, slice, from_at, to_at)
    join usage_hours u
      on u.deployment_id = s.deployment_id and u.hour >= s.from_at and u.hour < s.to_at
    left join unnest(${allowances.map(a => a.deployment_id)}::uuid[], ${allowances.map(a => a.slice)}::int[],
      ${allowances.map(a => a.kind)}::text[], ${allowances.map(a => String(a.seconds))}::numeric[])
      a (deployment_id, slice, kind, seconds)
      on a.deployment_id = u.deployment_id and a.slice = s.slice and a.kind = u.kind
    group by u.deployment_id, u.kind, s.slice`.execute(executor)
  return rows.map(row => ({ ...row, seconds: BigInt(row.seconds), over: BigInt(row.over) }))
}

// Costs: all of a month's lines, each currency by itself. Every line is in exactly one of its deployment's, its tenant's and
// nobody's sum, taxes and credits too, so that the sums of all add up to the month's invoices.

export interface Cost {
  currency: string
  /** The exact sum. */
  amount: string
  /** The lines' minor units, summed: what finance is told. */
  amount_minor: bigint
  /** What of it the split calls tax. */
  tax_minor: bigint
  /** How many lines the split calls tax and their product does not: a droplet named `taxi`. */
  flagged_lines: number
}

export interface OwnedCost extends Cost {
  /** Of a deployment, or of a tenant. */
  owner: string
}

type SummedCost = Omit<OwnedCost, 'amount_minor' | 'tax_minor'> & { amount_minor: string; tax_minor: string }

const SUMS = sql`sum(l.amount)::text as amount, sum(l.amount_minor)::text as amount_minor,
  coalesce(sum(l.amount_minor) filter (where l.is_tax), 0)::text as tax_minor,
  (count(*) filter (where l.tax_flagged))::int as flagged_lines`

async function summed(executor: Executor, query: RawBuilder<SummedCost>): Promise<OwnedCost[]> {
  const { rows } = await query.execute(executor)
  return rows.map(row => ({
    ...row,
    amount_minor: BigInt(row.amount_minor),
    tax_minor: BigInt(row.tax_minor),
  }))
}

/** `period` is the first day of the month. */
export const costsOfDeployments = (executor: Executor, period: string, ids: string[]): Promise<OwnedCost[]> =>
  summed(
    executor,
    sql`
      select l.deployment_id as owner, l.currency, ${SUMS} from cloud_cost_lines l
      where l.deployment_id = any(${ids}::uuid[]) and l.period = ${period}::date
      group by l.deployment_id, l.currency order by l.currency`,
  )

/** A line of a deployment is its tenant's; only one of no deployment is the tenant's that it names. */
export const costsOfTenants = (
  executor: Executor,
  period: string,
  tenantIds: string[],
): Promise<OwnedCost[]> =>
  summed(
    executor,
    sql`
      select owner, l.currency, ${SUMS} from (
        select d.tenant_id as owner, l.currency, l.amount, l.amount_minor, l.is_tax, l.tax_flagged
        from cloud_deployments d join cloud_cost_lines l on l.deployment_id = d.id
        where d.tenant_id = any(${tenantIds}::text[]) and l.period = ${period}::date
        union all
        select l.tenant_id, l.currency, l.amount, l.amount_minor, l.is_tax, l.tax_flagged from cloud_cost_lines l
        where l.tenant_id = any(${tenantIds}::text[]) and l.deployment_id is null
          and l.period = ${period}::date
      ) l group by owner, l.currency order by l.currency`,
  )

export interface NobodysLines {
  /** Only those that name this tenant; null: that name none. Undefined: whatever they say of a tenant. */
  tenantId?: string | null
}

/** What belongs to no deployment: one pass over the month, or over the tenant's part of it. */
export function costsOfNobody(
  executor: Executor,
  period: string,
  { tenantId }: NobodysLines,
): Promise<Cost[]> {
  const whose =
    tenantId === undefined
      ? sql``
      : tenantId === null
        ? sql`and l.tenant_id is null`
        : sql`and l.tenant_id = ${tenantId}`
  return summed(
    executor,
    sql`
      select '' as owner, l.currency, ${SUMS} from cloud_cost_lines l
      where l.period = ${period}::date and l.deployment_id is null ${whose}
      group by l.currency order by l.currency`,
  )
}

/**
 * Tenants that have deployments, or lines of the month, in the order of their names. Both indexes are entered anew behind
 * each name, so that a page costs as many looks as it has names, not as many as there are rows.
 */
export async function listTenants(
  executor: Executor,
  period: string,
  tenantId: string | undefined,
  limit: number,
  after: string | null,
): Promise<string[]> {
  const isAsked = tenantId === undefined ? sql`true` : sql`tenant_id = ${tenantId}`
  const names = (table: 'cloud_deployments' | 'cloud_cost_lines') => {
    const next = (from: RawBuilder<unknown>) =>
      sql`select tenant_id from ${sql.table(table)} where tenant_id > ${from} and ${isAsked} order by tenant_id limit 1`
    return sql`(
      with recursive names (tenant_id) as (
        (${next(sql`${after ?? ''}::text`)})
        union all
        select (${next(sql`names.tenant_id`)}) from names where names.tenant_id is not null
      )
      select tenant_id from names where tenant_id is not null)`
  }
  const { rows } = await sql<{ tenant_id: string }>`
    select tenant_id from (
      (select tenant_id from ${names('cloud_deployments')} n limit ${limit})
      union
      (select tenant_id from ${names('cloud_cost_lines')} n where exists (
        select from cloud_cost_lines l where l.tenant_id = n.tenant_id and l.period = ${period}::date) limit ${limit})
    ) t order by tenant_id limit ${limit}`.execute(executor)
  return rows.map(row => row.tenant_id)
}
