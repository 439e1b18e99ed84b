// Which resource bore a name in some time past, and whose it was then: for what is told of resources by name, such as the
// lines of an invoice. Of two that both lived then neither is meant: better none than a guess.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { PROVIDER } from './tables.ts'

type Owner = 'deployment_id' | 'tenant_id'

const sameName = (resource: 'r' | 'o') => {
  const of = (column: string) => sql.id(resource, column)
  return sql`${of('provider')} = ${sql.lit(PROVIDER)} and ${of('kind')} = l.kind and lower(${of('name')}) = lower(l.name)`
}

/**
 * How near a resource of the name is to the time asked about; null: it was gone by then.
 * 1. It was seen in that time.
 * 2. It was last seen before, but given up for deleted only later. So a resource that was deleted and made anew under its
 *    name is told from its successor, though its deletion was noticed hours afterwards.
 * 3. It was first seen afterwards: the mirror is younger than what is asked about.
 */
const nearness = (resource: 'r' | 'o') => {
  const of = (column: string) => sql.id(resource, column)
  return sql`(case
    when ${of('first_seen_at')} > l.until_at then 3
    when ${of('deleted_at')} is null or ${of('last_seen_at')} >= l.from_at then 1
    when ${of('deleted_at')} >= l.from_at then 2 end)`
}

/** Events that changed whose the resource is, after the time asked about. Drift only tells what somebody wished it were. */
const laterChanges = sql`
  from cloud_resource_events e
  where e.resource_id = r.id and e.created_at > l.until_at and e.kind <> 'drift_detected'
    and e.changes ?| array['deployment_id', 'tenant_id']`

/**
 * What the owner was before it first changed afterwards; what it is, if it did not change. Of a time before the resource
 * was first seen nothing is known: then it is the owner it was given first.
 */
const ownerThen = (owner: Owner) => {
  const [change, name] = [sql.lit(owner), sql.id(owner)]
  const before = sql`e.changes -> ${change} ->> 'before'`
  return sql`case when r.moved then coalesce((
    select jsonb_build_object('then', case when r.first_seen_at > l.until_at
      then coalesce(${before}, e.changes -> ${change} ->> 'after') else ${before} end)
    ${laterChanges} and e.changes ? ${change} order by e.created_at, e.id limit 1
  ), jsonb_build_object('then', r.${name})) ->> 'then' else r.${name}::text end`
}

/** The first tenant and the first deployment of a resource may not go together: then it was for no deployment. */
const withOwners = (found: RawBuilder<unknown>) => sql`
  select o.resource_id, o.tenant_id, case when o.known or exists (
    select from cloud_deployments d where d.id = o.deployment_id and d.tenant_id = o.tenant_id) then o.deployment_id end as deployment_id
  from (
    select r.id as resource_id, (${ownerThen('deployment_id')})::uuid as deployment_id,
      ${ownerThen('tenant_id')} as tenant_id, r.first_seen_at <= l.until_at as known
    from (
      select r.id, r.deployment_id, r.tenant_id, r.first_seen_at, exists (select ${laterChanges}) as moved
      from cloud_resources r where ${found} offset 0
    ) r
  ) o`

/**
 * To be joined to a relation `l` with the columns kind, name, from_at and until_at: adds m.resource_id, m.deployment_id
 * and m.tenant_id, all null where no resource is meant. One is meant if no other of its name is as near; one that was not
 * known yet (3), only if no other ever had the name.
 *
 * The fences (`offset 0`) make the planner look each name up. It cannot know how many it is handed, and would otherwise
 * read all resources for every batch of them.
 */
export const resourceThenJoin = sql`
  left join lateral (${withOwners(sql`
    ${sameName('r')} and ${nearness('r')} is not null and not exists (
      select from cloud_resources o
      where ${sameName('o')} and o.id <> r.id and (${nearness('r')} = 3 or ${nearness('o')} <= ${nearness('r')})
      offset 0)`)}
  ) m on l.name is not null`

export interface Owners {
  deployment_id: string | null
  tenant_id: string | null
}

/** Whose a resource was at a time; undefined when there is no such resource. */
export async function ownersThen(executor: Executor, id: string, at: string): Promise<Owners | undefined> {
  const { rows } = await sql<Owners>`
    select m.deployment_id, m.tenant_id from (select ${at}::timestamptz as until_at) l
    cross join lateral (${withOwners(sql`r.id = ${id}`)}) m`.execute(executor)
  return rows[0]
}
