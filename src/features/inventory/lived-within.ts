// For which deployment each resource lived in a span of time, and for how long: for what is charged by the hour. The row
// says how things are now; what has changed since the span began is undone, step by step, with the resource's events.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'

/**
 * A relation of resource_id, kind, deployment_id, from_at, to_at and resources: each stretch inside the span in which a
 * resource lived for one deployment. What is tied to none is left out. Most resources have not changed since, and live as
 * many others do: those are one row together, without an id, and `resources` says how many they are.
 *
 * Of each change only what was before it counts, up to the change before that one. A change that says nothing of the owner
 * (or of life) leaves it to the next that does; the row as it is now comes last. That look ahead is done by counting, from
 * the latest backwards, the changes that do say something: those between two of them have the same count.
 */
export const livedWithin = (from: string, to: string): RawBuilder<unknown> => sql`(
  with changed as materialized (
    select e.resource_id, e.created_at as at, e.id, e.kind, e.changes
    from cloud_resource_events e
    where e.created_at > ${from}::timestamptz
      and (e.kind in ('deleted', 'restored') or (e.kind <> 'drift_detected' and e.changes ? 'deployment_id'))
  ), points as (
    select resource_id, at, id, coalesce(changes ? 'deployment_id', false) as tells_owner,
      changes -> 'deployment_id' ->> 'before' as owner, case kind when 'deleted' then true when 'restored' then false end as lived
    from changed
    union all
    select id, 'infinity', null, true, deployment_id::text, deleted_at is null
    from cloud_resources where id in (select resource_id from changed)
  ), counted as (
    select *, lag(at) over (partition by resource_id order by at, id) as since,
      count(*) filter (where tells_owner) over later as owners, count(lived) over later as lives
    from points window later as (partition by resource_id order by at desc, id desc)
  ), stretches as (
    select resource_id, since, at, max(owner) over (partition by resource_id, owners) as owner,
      bool_or(lived) over (partition by resource_id, lives) as lived
    from counted
  ), lived as (
    select r.id as resource_id, r.kind, s.owner::uuid as deployment_id,
      greatest(r.first_seen_at, s.since, ${from}::timestamptz) as from_at, least(s.at, ${to}::timestamptz) as to_at, 1 as resources
    from stretches s join cloud_resources r on r.id = s.resource_id
    where s.lived and s.owner is not null
    union all
    select null, kind, deployment_id, from_at, to_at, count(*) from (
      select r.kind, r.deployment_id, greatest(r.first_seen_at, ${from}::timestamptz) as from_at,
        least(r.deleted_at, ${to}::timestamptz) as to_at
      from cloud_resources r
      where r.deployment_id is not null and not exists (select from changed c where c.resource_id = r.id)
    ) r group by kind, deployment_id, from_at, to_at
  )
  select * from lived where from_at < to_at
)`

export interface LivingCount {
  deployment_id: string
  kind: string
  living: number
}

/** How many of each kind these deployments have now. */
export async function countLiving(executor: Executor, deploymentIds: string[]): Promise<LivingCount[]> {
  const { rows } = await sql<LivingCount>`
    select deployment_id, kind, count(*)::int as living from cloud_resources
    where deployment_id = any(${deploymentIds}::uuid[]) and deleted_at is null
    group by deployment_id, kind`.execute(executor)
  return rows
}
