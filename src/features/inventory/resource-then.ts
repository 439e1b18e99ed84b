// SQL of what was known of a resource at a time: which resource bore a name then, whose it was and how it was tagged.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { PROVIDER } from './resource.ts'

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

const firstOf = (owner: 'tenant_id' | 'deployment_id') => sql`
  (select ${sql.id(owner)} from resource_versions f where f.resource_id = r.id and ${sql.id(owner)} is not null
    order by valid_from, valid_to limit 1)`

/**
 * Whose the resources were at `l.until_at`. Of a time before a resource was first seen nothing is known: then its owners
 * are those it was given first; if they do not go together, it was for no deployment.
 */
const withOwners = (found: RawBuilder<unknown>) => sql`
  select o.resource_id, o.tenant_id, case when o.known or exists (
    select from cloud_deployments d where d.id = o.deployment_id and d.tenant_id = o.tenant_id) then o.deployment_id end as deployment_id
  from (
    select r.id as resource_id, v.resource_id is not null as known,
      case when v.resource_id is not null then v.deployment_id else ${firstOf('deployment_id')} end as deployment_id,
      case when v.resource_id is not null then v.tenant_id else ${firstOf('tenant_id')} end as tenant_id
    from (select r.id from cloud_resources r where ${found} offset 0) r
    left join lateral (
      select resource_id, tenant_id, deployment_id from resource_versions v
      where v.resource_id = r.id and v.valid_from <= l.until_at and (v.valid_to is null or v.valid_to > l.until_at) offset 0
    ) v on true
  ) o`

/**
 * To be joined to a relation `l` with the columns kind, name, from_at and until_at: adds m.resource_id, m.deployment_id
 * and m.tenant_id, all null where no resource is meant. One is meant if no other of its name is as near; one that was not
 * known yet (3), only if no other ever had the name. Of two that both lived then neither is meant: better none than a guess.
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

/**
 * SQL, of expressions: the tags that a resource had at a time, or those it was first seen with; null where there is no such
 * resource. With a tenant only if it was that tenant's.
 */
export const tagsThen = (resourceId: string, at: string, tenantId: string | null): string => `
  select v.tags from resource_versions v
  where v.resource_id = ${resourceId} and (v.valid_to is null or v.valid_to >= ${at})${
    tenantId === null ? '' : ` and v.tenant_id = ${tenantId}`
  }
  order by v.valid_from limit 1`
