// SQL of what was known of a resource at a time: which resource bore a name then, whose it was and how it was tagged.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { PROVIDER } from './resource.ts'
import { sizePriceThen } from './size-store.ts'

const sameNameText = (resource: 'r' | 'o') =>
  `${resource}.provider = '${PROVIDER}' and ${resource}.kind = l.kind and lower(${resource}.name) = lower(l.name)`

const sameName = (resource: 'r' | 'o') => sql.raw(sameNameText(resource))

/**
 * How near a resource of the name is to the time asked about; null: it was gone by then.
 * 1. It was seen in that time.
 * 2. It was last seen before, but given up for deleted only later. So a resource that was deleted and made anew under its
 *    name is told from its successor, though its deletion was noticed hours afterwards.
 * 3. It was first seen afterwards: the mirror is younger than what is asked about.
 */
const nearnessText = (resource: 'r' | 'o') => `(case
    when ${resource}.first_seen_at > l.until_at then 3
    when ${resource}.deleted_at is null or ${resource}.last_seen_at >= l.from_at then 1
    when ${resource}.deleted_at >= l.from_at then 2 end)`

const nearness = (resource: 'r' | 'o') => sql.raw(nearnessText(resource))

/**
 * SQL, of a relation `l` with the columns kind, name, from_at and until_at: whether any resource may be meant, be it one of
 * several.
 */
export const ANY_RESOURCE_THEN = `exists (
  select from cloud_resources o where ${sameNameText('o')} and ${nearnessText('o')} is not null offset 0)`

const firstOf = (owner: 'tenant_id' | 'deployment_id') => sql`
  (select ${sql.id(owner)} from resource_versions f where f.resource_id = r.id and ${sql.id(owner)} is not null
    order by f.valid_from, f.event_id limit 1)`

/**
 * Whose the resources were at `l.until_at`. Of a time before a resource was first seen nothing is known: then its owners
 * are those it was given first; if they do not go together, it was for no deployment. The first owners are joined and fenced
 * too: as expressions they would be looked up again wherever they are used, and by a join's condition for every resource.
 */
const withOwners = (found: RawBuilder<unknown>) => sql`
  select r.id as resource_id, coalesce(v.tenant_id, f.tenant_id) as tenant_id, case when v.resource_id is not null or exists (
    select from cloud_deployments d where d.id = f.deployment_id and d.tenant_id = f.tenant_id)
    then coalesce(v.deployment_id, f.deployment_id) end as deployment_id
  from (select r.id from cloud_resources r where ${found} offset 0) r
  left join lateral (
    select resource_id, tenant_id, deployment_id from resource_versions v
    where v.resource_id = r.id and v.valid_from <= l.until_at and (v.valid_to is null or v.valid_to > l.until_at) offset 0
  ) v on true
  left join lateral (
    select ${firstOf('deployment_id')} as deployment_id, ${firstOf('tenant_id')} as tenant_id
    where v.resource_id is null offset 0
  ) f on true`

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

/**
 * To be joined to a relation `l` with the columns resource_id, tenant_id and until_at: adds `r`, the resource with its name,
 * region and tags as they were then, or were first. A tenant gets them of a time when the resource was its own, else as they
 * are, and nothing of what is another's by now.
 */
export const resourceAsThenJoin = (ownAlone: boolean) => sql`
  left join lateral (
    select r.id, r.kind, r.provider_id,
      case when v.resource_id is null then r.name else v.name end as name,
      case when v.resource_id is null then r.region else v.region end as region,
      case when v.resource_id is null then r.tags else v.tags end as tags
    from cloud_resources r
    left join lateral (
      select v.resource_id, v.name, v.region, v.tags, v.tenant_id from resource_versions v
      where v.resource_id = r.id and v.valid_from <= greatest(l.until_at, (
        select f.valid_from from resource_versions f where f.resource_id = r.id order by f.valid_from, f.event_id limit 1))
      order by v.valid_from desc, v.event_id desc limit 1
    ) v on ${ownAlone ? sql`v.tenant_id = l.tenant_id` : sql`true`}
    where r.id = l.resource_id ${ownAlone ? sql`and r.tenant_id = l.tenant_id` : sql``}
  ) r on l.resource_id is not null`

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

export interface LivedStretch {
  resource_id: string
  kind: string
  name: string
  tenant_id: string | null
  deployment_id: string | null
  project_name: string | null
  attrs: Record<string, unknown>
  /** Of a droplet's size at the time, exact decimals. */
  price_monthly: string | null
  price_hourly: string | null
  from_at: string
  to_at: string
  valid_from: string
  /** Whether the resource was first seen like that: it may have been there before. */
  first: boolean
  /** Whether it lived like that when the span ended, and goes on. */
  open: boolean
}

/**
 * The stretches in which resources of these kinds lived within a span, each as it was, resource after resource and in the
 * order of time: the next of them.
 */
export async function listStretches(
  executor: Executor,
  kinds: readonly string[],
  [from, to]: readonly [from: string, to: string],
  limit: number,
  after: readonly [resourceId: string, validFrom: string] | null,
): Promise<LivedStretch[]> {
  const open = sql`(v.valid_to is null or v.valid_to > ${to}::timestamptz)`
  // Whose it is now counts at once, not only once the span ends later than that.
  const owner = (column: string) =>
    sql`case when ${open} then r.${sql.id(column)} else v.${sql.id(column)} end`
  const { rows } = await sql<LivedStretch>`
    select v.resource_id, v.kind, v.name, ${owner('tenant_id')} as tenant_id, ${owner('deployment_id')} as deployment_id,
      p.name as project_name, v.attrs, v.valid_from,
      s.price_monthly::text as price_monthly, s.price_hourly::text as price_hourly,
      greatest(v.valid_from, ${from}::timestamptz) as from_at, least(v.valid_to, ${to}::timestamptz) as to_at,
      ${open} as open, v.valid_from = r.first_seen_at as first
    from resource_versions v
    join cloud_resources r on r.id = v.resource_id
    left join cloud_projects p on p.id = ${owner('project_id')}
    left join lateral (${sql.raw(sizePriceThen(`(v.attrs->>'size_slug')`, 'v.valid_from'))}) s on v.kind = 'droplet'
    where (v.resource_id, v.valid_from) > (${after?.[0] ?? '00000000-0000-0000-0000-000000000000'}::uuid,
        ${after?.[1] ?? '-infinity'}::timestamptz)
      and v.kind = any(${[...kinds]}::text[]) and v.deleted_at is null and v.valid_from < ${to}::timestamptz
      and (v.valid_to is null or v.valid_to > ${from}::timestamptz) and v.valid_from is distinct from v.valid_to
    order by v.resource_id, v.valid_from limit ${limit}`.execute(executor)
  return rows
}
