// All SQL of usage events: each is kept once and counted in its hour by one statement; and what they add up to.
import { type RawBuilder, sql } from 'kysely'
import { entryInStatement } from '../../kernel/audit.ts'
import { arrayLiteral } from '../../kernel/db/array-literal.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { UsageEvent } from './cloud-event.ts'

const HOUR = "date_bin('1 hour', at, '2000-01-01T00:00:00Z')"

const ENTRY = entryInStatement(
  12,
  { after: "jsonb_build_object('new', n)" },
  '(select count(*) as n from made having count(*) > 0) m',
)

/**
 * The parts are done one after the other, and each in the order of its keys: the events first, for everything behind reads
 * what they were; then hours, members and months. So writers of the same rows wait for each other and never in a circle; and
 * not for long, for everything is one statement, the entry of the audit log too. What was known before leaves no entry.
 */
const INSERT = {
  name: 'usage_events_insert',
  text: `with made as (
      insert into usage_events (tenant_id, source, event_id, deployment_id, meter, at, value, member, received_at)
      select e.*, $9::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[],
        $7::numeric[], $8::text[]) e
      on conflict do nothing
      returning deployment_id, meter, at, value, member, event_id
    ), latest as (
      select distinct on (deployment_id, meter, hour) deployment_id, meter, ${HOUR} as hour, value, at, event_id
      from made where meter = any($11::text[]) order by deployment_id, meter, hour, at desc, event_id desc
    ), hours as (
      insert into usage_meter_hours as h (deployment_id, meter, hour, total, highest, last, last_at, last_id)
      select g.*, l.value, l.at, l.event_id from (
        select deployment_id, meter, ${HOUR} as hour, sum(value), max(value)
        from made where value is not null group by 1, 2, 3) g
      left join latest l using (deployment_id, meter, hour) order by 1, 2, 3
      on conflict (deployment_id, meter, hour) do update set
        total = h.total + excluded.total,
        highest = greatest(h.highest, excluded.highest),
        last = case when (excluded.last_at, excluded.last_id) > (h.last_at, h.last_id) then excluded.last else h.last end,
        last_at = greatest(h.last_at, excluded.last_at),
        last_id = case when (excluded.last_at, excluded.last_id) > (h.last_at, h.last_id) then excluded.last_id else h.last_id end
    ), members as (
      insert into usage_meter_members (deployment_id, meter, month, member)
      select distinct deployment_id, meter, (date_trunc('month', at, 'UTC') at time zone 'UTC')::date, member
      from made where member is not null order by 1, 2, 3, 4
      on conflict do nothing
    ), late as (
      insert into late_usage (deployment_id, month, received_at)
      select distinct deployment_id, (date_trunc('month', at, 'UTC') at time zone 'UTC')::date, $9::timestamptz
      from made where at < $10::timestamptz order by 1, 2
      on conflict (deployment_id, month) do update set received_at = excluded.received_at
    ), entry as (${ENTRY.sql})
    select count(*)::int as made from made`,
}

export interface Reception {
  at: string
  /** The beginning of the running month: whatever is older is late. */
  monthStart: string
  /** The meters whose latest value counts. */
  latest: readonly string[]
}

/** How many were new. */
export async function insertEvents(
  executor: Executor,
  events: readonly UsageEvent[],
  { at, monthStart, latest }: Reception,
): Promise<number> {
  if (events.length === 0) return 0
  const sorted = events.toSorted(byKey)
  const column = (name: keyof UsageEvent) => arrayLiteral(sorted.map(event => event[name]))
  const [row] = await runStatement<{ made: number }>(executor, INSERT, [
    ...[column('tenant_id'), column('source'), column('event_id'), column('deployment_id')],
    ...[column('meter'), column('at'), column('value'), column('member'), at, monthStart, latest],
    ...ENTRY.values('requested', {
      subjectType: 'usage_events',
      subjectId: subjectIn(events),
      tenantId: tenantIn(events),
    }),
  ])
  return row!.made
}

/** The deployment that all of them are of; several are told by their number. */
function subjectIn(events: readonly UsageEvent[]): string {
  const ids = new Set(events.map(({ deployment_id }) => deployment_id))
  return ids.size === 1 ? events[0]!.deployment_id : `${ids.size} deployments`
}

const tenantIn = (events: readonly UsageEvent[]): string | null => {
  const tenants = new Set(events.map(({ tenant_id }) => tenant_id))
  return tenants.size === 1 ? events[0]!.tenant_id : null
}

/** Any order will do, as long as every writer takes the same one. */
function byKey(a: UsageEvent, b: UsageEvent): number {
  if (a.event_id !== b.event_id) return a.event_id < b.event_id ? -1 : 1
  if (a.source !== b.source) return a.source < b.source ? -1 : 1
  return a.tenant_id < b.tenant_id ? -1 : a.tenant_id > b.tenant_id ? 1 : 0
}

/** One of a deployment's stretches of time, whole hours; which one it is. */
export interface OwnStretch {
  deployment_id: string
  slice: number
  from_at: string
  to_at: string
}

/** What the events of a meter come to within a stretch, in billionths of its unit. */
export interface MeterSum {
  deployment_id: string
  meter: string
  slice: number
  total: bigint
  highest: bigint
  /** 0 where the meter does not ask for it. */
  last: bigint
}

type SummedMeter = Omit<MeterSum, 'total' | 'highest' | 'last'> & Record<'total' | 'highest' | 'last', string>

const SUM = {
  name: 'usage_meters_sum',
  text: `select h.deployment_id, h.meter, s.slice, trunc(sum(h.total) * 1e9)::text as total,
      trunc(max(h.highest) * 1e9)::text as highest,
      trunc(coalesce((array_agg(h.last order by h.hour desc))[1], 0) * 1e9)::text as last
    from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::timestamptz[]) s (deployment_id, slice, from_at, to_at)
    join usage_meter_hours h on h.deployment_id = s.deployment_id and h.hour >= s.from_at and h.hour < s.to_at
    group by h.deployment_id, h.meter, s.slice order by h.deployment_id, h.meter, s.slice`,
}

/** Of many deployments at once; a row only where something was used. */
export async function sumMeters(executor: Executor, slices: readonly OwnStretch[]): Promise<MeterSum[]> {
  if (slices.length === 0) return []
  const rows = await runStatement<SummedMeter>(executor, SUM, [
    slices.map(slice => slice.deployment_id),
    slices.map(({ slice }) => slice),
    slices.map(({ from_at }) => from_at),
    slices.map(({ to_at }) => to_at),
  ])
  return rows.map(row => ({
    ...row,
    total: BigInt(row.total),
    highest: BigInt(row.highest),
    last: BigInt(row.last),
  }))
}

/** How many different things a meter saw in a month. */
export interface MeterCount {
  deployment_id: string
  meter: string
  members: number
}

const COUNT = {
  name: 'usage_meters_count',
  text: `select deployment_id, meter, count(*)::int as members from usage_meter_members
    where deployment_id = any($1::uuid[]) and month = $2::date group by deployment_id, meter`,
}

/** `month` is its first day. */
export const countMembers = (
  executor: Executor,
  deploymentIds: readonly string[],
  month: string,
): Promise<MeterCount[]> => runStatement(executor, COUNT, [deploymentIds, month])

/** A time within one of the stretches at which the meter was used for any deployment. */
export async function findMeterUse(
  executor: Executor,
  meter: string,
  stretches: readonly Pick<OwnStretch, 'from_at' | 'to_at'>[],
): Promise<string | undefined> {
  if (stretches.length === 0) return undefined
  const [row] = await runStatement<{ at: string }>(executor, FIND_USE, [
    meter,
    stretches.map(({ from_at }) => from_at),
    stretches.map(({ to_at }) => to_at),
  ])
  return row?.at
}

// The stretches are whole months.
const FIND_USE = {
  name: 'usage_meters_find',
  text: `select u.at from unnest($2::timestamptz[], $3::timestamptz[]) s (from_at, to_at)
    cross join lateral (
      (select hour as at from usage_meter_hours where meter = $1 and hour >= s.from_at and hour < s.to_at limit 1)
      union all
      (select month::timestamp at time zone 'UTC' as at from usage_meter_members
       where meter = $1 and month >= (s.from_at at time zone 'UTC')::date and month < (s.to_at at time zone 'UTC')::date limit 1)
    ) u limit 1`,
}

/** SQL: whether any event told of a deployment in a stretch of whole months. Meter by meter, as the indexes are. */
export const meteredWithin = (
  deploymentId: RawBuilder<unknown>,
  { from, to }: { from: string; to: string },
): RawBuilder<boolean> => sql`exists (
  select from meters m where exists (
      select from usage_meter_hours h where h.deployment_id = ${deploymentId} and h.meter = m.code
        and h.hour >= ${from} and h.hour < ${to})
    or exists (
      select from usage_meter_members u where u.deployment_id = ${deploymentId} and u.meter = m.code
        and u.month >= ${from.slice(0, 10)}::date and u.month < ${to.slice(0, 10)}::date))`

/** A month of a deployment that was over when events of it came in. */
export interface LateMonth {
  deployment_id: string
  /** Its first day. */
  month: string
}

const LATE = {
  name: 'usage_late',
  text: `select deployment_id, month::text as month from late_usage
    where (month, deployment_id) > ($1::date, $2::uuid) order by month, deployment_id limit $3`,
}

const BEFORE_ALL: LateMonth = { deployment_id: '00000000-0000-0000-0000-000000000000', month: '0001-01-01' }

/** By month and deployment. Those that are closed need an adjustment, the others are counted when they are closed. */
export const listLateMonths = (
  executor: Executor,
  limit: number,
  after: LateMonth = BEFORE_ALL,
): Promise<LateMonth[]> => runStatement(executor, LATE, [after.month, after.deployment_id, limit])

const LATE_OF = {
  name: 'usage_late_of',
  text: `select deployment_id, month::text as month from late_usage
    where deployment_id = any($1::uuid[]) and month < $2::date order by month, deployment_id`,
}

/** The same of some deployments, before a day. */
export const lateMonthsOf = (
  executor: Executor,
  deploymentIds: readonly string[],
  before: string,
): Promise<LateMonth[]> => runStatement(executor, LATE_OF, [deploymentIds, before])

const SETTLE = {
  name: 'usage_settle_late',
  text: `delete from late_usage l using (
      select l.deployment_id, l.month from late_usage l
      join unnest($1::uuid[], $2::date[]) d (deployment_id, month) using (deployment_id, month)
      order by l.deployment_id, l.month for update of l) d
    where l.deployment_id = d.deployment_id and l.month = d.month`,
}

/**
 * For whoever closes or adjusts months, in that transaction and before it adds up: what comes in from now on leaves the
 * month's name anew.
 */
export async function settleLateMonths(tx: Executor, months: readonly LateMonth[]): Promise<void> {
  await runStatement(tx, SETTLE, [
    months.map(({ deployment_id }) => deployment_id),
    months.map(({ month }) => month),
  ])
}
