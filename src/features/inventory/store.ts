// Reads of resources, their events and their history. The database makes the JSON: attributes go from its page to the wire without being parsed.
import { type RawBuilder, sql } from 'kysely'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { jsonOf } from '../../kernel/noun.ts'
import {
  type CloudResourceEventRow,
  type CloudResourceRow,
  Resource,
  ResourceDetail,
  ResourceEvent,
  ResourceOwners,
} from './resource.ts'
import { deploymentTag } from './seen-resource.ts'

export interface ResourceJson {
  id: string
  /** The resource as the API writes it. */
  json: string
}

/** SQL: a row `r` of cloud_resources as the API writes it. */
export const RESOURCE_JSON = `${jsonOf(Resource, 'r')}::text`

/**
 * Members of a shown resource that other features bring: name → SQL that gives JSON for cloud_resources `r`. `$2` is the
 * tenant that asks, which is shown nothing of the time before it had the resource; null for whoever sees all.
 */
export type ResourceMembers = Record<string, string>

/**
 * The resource with its latest events and those members, as JSON text, in one statement; undefined when there is none
 * for this caller.
 */
export async function showResource(
  executor: Executor,
  scope: Scope,
  members: ResourceMembers,
  id: string,
): Promise<string | undefined> {
  const json = jsonOf(ResourceDetail, 'r', { events: `(${latestEvents()})`, ...members })
  const text = `select ${json}::text as json from cloud_resources r where id = $1::uuid and ($2::text is null or tenant_id = $2)`
  const tenant = scope.allTenants ? null : scope.tenantId
  const rows = await runStatement<{ json: string }>(executor, { name: 'inventory_show', text }, [id, tenant])
  return rows[0]?.json
}

const SHOWN_EVENTS = 50

/**
 * A tenant sees the events of its own times. Of the one by which the resource came to it, it sees what is now and nothing
 * of what was; what drifted from a desired tenant_id has not moved. `tenant` is SQL; null: all.
 */
const shownChanges = (tenant: string) =>
  `case when ${tenant} is not null and e.kind <> 'drift_detected' and e.changes ? 'tenant_id' then (
    select coalesce(jsonb_object_agg(key, jsonb_build_object('before', null, 'after', value -> 'after'))
      filter (where value -> 'after' <> 'null'), '{}') from jsonb_each(e.changes)) else e.changes end`

/** What the provider did while another had the resource is none of the new one's business. */
const shownAction = (tenant: string) =>
  `case when ${tenant} is null or not coalesce(e.changes ? 'tenant_id', false) then e.action end`

/** Of a shown resource's events those up to a time, or all. `$2` is the tenant that asks. */
export const latestEvents = (
  until?: string,
) => `select coalesce(json_agg(${jsonOf(ResourceEvent, 'e', { changes: shownChanges('$2::text'), action: shownAction('$2::text') })} order by e.id), '[]')
  from (select * from cloud_resource_events where resource_id = r.id and ($2::text is null or tenant_id = $2)${until ? ` and created_at <= ${until}` : ''}
    order by id desc limit ${SHOWN_EVENTS}) e`

type ShownEvent = Omit<CloudResourceEventRow, 'tenant_id'>

/** Newest first. A tenant that had the resource once goes on seeing what it saw then; undefined for who never had it. */
export async function listEvents(
  executor: Executor,
  scope: Scope,
  resourceId: string,
  limit: number,
  before: string | null,
): Promise<ShownEvent[] | undefined> {
  const tenant = scope.allTenants ? null : scope.tenantId
  const known = await sql`
    select 1 from cloud_resources r where id = ${resourceId} and (${tenant}::text is null or tenant_id = ${tenant}
      or exists (select from cloud_resource_events e where e.tenant_id = ${tenant} and e.resource_id = r.id))`.execute(
    executor,
  )
  if (known.rows.length === 0) return undefined
  const { rows } = await sql<ShownEvent>`
    select id, resource_id, kind, ${sql.raw(shownChanges(tenant === null ? 'null' : `''`))} as changes, actor,
      ${sql.raw(shownAction(tenant === null ? 'null' : `''`))} as action, created_at
    from cloud_resource_events e
    where resource_id = ${resourceId} ${tenant === null ? sql`` : sql`and tenant_id = ${tenant}`}
      and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc limit ${limit}`.execute(executor)
  return rows
}

export interface ListedOwners {
  valid_from: string
  json: string
}

/**
 * Whose a resource was while it lived, newest first: versions in a row that have the same owners are one. A tenant sees
 * the times in which it had it, and none of a deployment of another's that it was still tied to; undefined for who never
 * had it.
 */
export async function listOwners(
  executor: Executor,
  scope: Scope,
  resourceId: string,
  limit: number,
  before: string | null,
): Promise<ListedOwners[] | undefined> {
  const tenant = scope.allTenants ? null : scope.tenantId
  const { rows: known } = await sql`
    select from cloud_resources r where id = ${resourceId} and (${tenant}::text is null or tenant_id = ${tenant}
      or exists (select from resource_versions v where v.resource_id = r.id and v.tenant_id = ${tenant}))`.execute(
    executor,
  )
  if (known.length === 0) return undefined
  const deployment = sql.raw(tenant === null ? 'deployment_id' : OWN_DEPLOYMENT)
  const { rows } = await sql<ListedOwners>`
    with lived as (
      select valid_from, valid_to, event_id, tenant_id, project_id, ${deployment} as deployment_id from resource_versions v
      where resource_id = ${resourceId} and deleted_at is null and valid_from is distinct from valid_to
        and (${tenant}::text is null or tenant_id = ${tenant})
    ), begun as (
      select *, ((lag(valid_to) over before, lag(tenant_id) over before, lag(project_id) over before, lag(deployment_id) over before)
        is distinct from (valid_from, tenant_id, project_id, deployment_id))::int as begins
      from lived window before as (order by valid_from, event_id)
    ), numbered as (
      select *, sum(begins) over (order by valid_from, event_id) as n from begun
    ), owners as (
      select min(valid_from) as valid_from, nullif(max(coalesce(valid_to, 'infinity')), 'infinity') as valid_to,
        min(tenant_id) as tenant_id, min(project_id::text) as project_id, min(deployment_id::text) as deployment_id
      from numbered group by n
    )
    select valid_from, ${sql.raw(jsonOf(ResourceOwners, 'o'))}::text as json from owners o
    where (${before}::timestamptz is null or valid_from < ${before}::timestamptz)
    order by valid_from desc limit ${limit}`.execute(executor)
  return rows
}

/** Of a version: a resource may have been tied to a deployment of the tenant that had it before. */
export const OWN_DEPLOYMENT = `(select d.id from cloud_deployments d where d.id = v.deployment_id and d.tenant_id = v.tenant_id)`

/** What the provider calls a resource. */
export const findNamed = (
  executor: Executor,
  id: string,
): Promise<Pick<CloudResourceRow, 'kind' | 'provider_id'> | undefined> =>
  executor
    .selectFrom('cloud_resources')
    .select(['kind', 'provider_id'])
    .where('id', '=', id)
    .executeTakeFirst()

export interface TiedResource {
  id: string
  provider_id: string
  name: string
  /** Set: an operator said so, and no tag does. */
  assigned_deployment_id: string | null
}

/** What of a kind lives and is tied to the deployment. */
export function livingOfDeployment(
  executor: Executor,
  kind: string,
  deploymentId: string,
): Promise<TiedResource[]> {
  return executor
    .selectFrom('cloud_resources')
    .select(['id', 'provider_id', 'name', 'assigned_deployment_id'])
    .where('deployment_id', '=', deploymentId)
    .where('kind', '=', kind)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
}

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

/**
 * Living resources that carry the deployment's tag and are not the deployment's: another tenant's, or tied to two at once.
 * A droplet that is in no project counts too; of kinds that no project holds nobody can say whose they are.
 */
export async function taggedElsewhere(
  executor: Executor,
  deploymentId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from cloud_resources
    where deleted_at is null and tags @> array[${deploymentTag(deploymentId)}]::text[]
      and deployment_id is distinct from ${deploymentId} and (tenant_id is not null or kind = 'droplet')
    order by id limit ${limit}`.execute(executor)
  return rows.map(row => row.id)
}

/**
 * Kind → start of its last complete sweep, and the first moment at which anything was the caller's: the history goes back to
 * there. Both as JSON text.
 */
export async function freshness(
  executor: Executor,
  scope: Scope,
  kind?: string,
): Promise<{ asOf: string; knownSince: string }> {
  const values: unknown[] = [kind ?? null]
  const own = scope.allTenants ? '' : `v.tenant_id = $${values.push(scope.tenantId)} and`
  const text = `select coalesce(json_object_agg(kind, iso8601(complete_at) order by kind), '{}')::text as "asOf",
      coalesce(to_json((select iso8601(v.valid_from) from resource_versions v
        where ${own} v.valid_from is distinct from v.valid_to order by v.valid_from limit 1))::text, 'null') as "knownSince"
    from sync_freshness where kind <> 'project' and ($1::text is null or kind = $1)`
  const name = `inventory_freshness${own && '_own'}`
  const rows = await runStatement<{ asOf: string; knownSince: string }>(executor, { name, text }, values)
  return rows[0]!
}

/** How long ago each kind was last swept whole. */
export async function ages(executor: Executor, now: string): Promise<{ kind: string; seconds: number }[]> {
  const { rows } = await sql<{ kind: string; seconds: number }>`
    select kind, extract(epoch from ${now}::timestamptz - complete_at)::float8 as seconds from sync_freshness`.execute(
    executor,
  )
  return rows
}

// The history (table resource_versions, written by write-resources.ts): how each resource was, and from when to when.

/**
 * A relation of resource_id, kind, deployment_id, from_at, to_at and resources: each stretch inside the span in which a
 * resource lived for one deployment. Most live throughout: those are one row for each kind and deployment, without an id,
 * and `resources` says how many they are.
 */
export const livedWithin = (from: string, to: string): RawBuilder<unknown> => {
  const [start, end] = [sql`${from}::timestamptz`, sql`${to}::timestamptz`]
  const throughout = sql`valid_from <= ${start} and (valid_to is null or valid_to >= ${end})`
  const lived = sql`
    from resource_versions
    where deployment_id is not null and deleted_at is null and valid_from < ${end} and (valid_to is null or valid_to > ${start})`
  return sql`(
    select null::uuid as resource_id, kind, deployment_id, ${start} as from_at, ${end} as to_at, count(*) as resources
    ${lived} and ${throughout} group by kind, deployment_id
    union all
    select resource_id, kind, deployment_id, greatest(valid_from, ${start}), least(valid_to, ${end}), 1
    ${lived} and not (${throughout}) and valid_from is distinct from valid_to
  )`
}
