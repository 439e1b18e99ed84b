// SQL of metering: hours are written once, and added up by whoever asks.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { livedWithin } from '../inventory/index.ts'
import type { Slice } from './price-slices.ts'

/** The last hour that is metered; all before it are. */
export async function lastHour(executor: Executor): Promise<string | null> {
  const { rows } = await sql<{ hour: string | null }>`select max(hour) as hour from metered_hours`.execute(
    executor,
  )
  return rows[0]!.hour
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
 * resource that lived twice in an hour is one resource. The hours follow one another. The number of rows.
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
      where seconds > 0
      group by deployment_id, hour, kind, resource_id
    ) l
    group by deployment_id, hour, kind`.execute(tx)
  return Number(numAffectedRows ?? 0n)
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

/** What a deployment may use of a kind within an hour before it costs anything. */
export interface Allowance {
  deployment_id: string
  kind: string
  seconds: bigint
}

export interface UsageSum {
  deployment_id: string
  kind: string
  /** Which of the slices. */
  slice: number
  seconds: bigint
  /** What went beyond the allowance, hour by hour. */
  over: bigint
}

type SummedRow = Omit<UsageSum, 'seconds' | 'over'> & { seconds: string; over: string }

export async function sumUsage(
  executor: Executor,
  deploymentIds: string[],
  slices: readonly Slice[],
  until: string,
  allowances: readonly Allowance[],
): Promise<UsageSum[]> {
  const { rows } = await sql<SummedRow>`
    select u.deployment_id, u.kind, (s.n - 1)::int as slice, sum(u.seconds)::text as seconds,
      sum(greatest(u.seconds - coalesce(a.seconds, 0), 0))::text as over
    from unnest(${deploymentIds}::uuid[]) d (id)
    cross join unnest(${slices.map(s => s.from_at)}::timestamptz[], ${slices.map(s => s.to_at)}::timestamptz[])
      with ordinality s (from_at, to_at, n)
    join usage_hours u
      on u.deployment_id = d.id and u.hour >= s.from_at and u.hour < least(s.to_at, ${until}::timestamptz)
    left join unnest(${allowances.map(a => a.deployment_id)}::uuid[], ${allowances.map(a => a.kind)}::text[],
      ${allowances.map(a => String(a.seconds))}::numeric[]) a (deployment_id, kind, seconds)
      on a.deployment_id = u.deployment_id and a.kind = u.kind
    group by u.deployment_id, u.kind, s.n`.execute(executor)
  return rows.map(row => ({ ...row, seconds: BigInt(row.seconds), over: BigInt(row.over) }))
}
