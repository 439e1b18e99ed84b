// Reads of the inventory. The database makes the JSON: attributes go from its page to the wire without being parsed.
import { sql } from 'kysely'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { CloudResourceEventRow } from './tables.ts'

export interface InventoryFilter {
  kind?: string
  region?: string
  status?: string
  project_id?: string
  deployment_id?: string
  name?: string
  tag?: string
  tenant_id?: string
  include_deleted: boolean
}

export interface ResourceJson {
  id: string
  /** The resource as the API writes it. */
  json: string
}

const RESOURCE_JSON = `json_build_object(
  'id', id, 'provider', provider, 'provider_id', provider_id, 'kind', kind, 'name', name, 'region', region,
  'status', status, 'tenant_id', tenant_id, 'project_id', project_id, 'deployment_id', deployment_id, 'tags', tags,
  'attrs', attrs, 'first_seen_at', iso8601(first_seen_at), 'last_seen_at', iso8601(last_seen_at),
  'stale_strike_count', stale_strike_count, 'deleted_at', iso8601(deleted_at))::text`

type FilterName = Exclude<keyof InventoryFilter, 'include_deleted'>

/** Each filter's condition, with its parameter's place to be filled in. */
const CONDITIONS: Record<FilterName, (parameter: string) => string> = {
  kind: p => `kind = ${p}`,
  region: p => `region = ${p}`,
  status: p => `status = ${p}`,
  project_id: p => `project_id = ${p}::uuid`,
  deployment_id: p => `deployment_id = ${p}::uuid`,
  name: p => `name = ${p}`,
  tag: p => `tags @> array[${p}]::text[]`,
  tenant_id: p => `tenant_id = ${p}`,
}

/** PostgreSQL tells statements apart by 63 characters of their name, fewer than all filters together have. */
const shortName = (part: string) => part.slice(0, 3)

/** Columns with an index on (column, id), the one that leaves fewest rows first. */
const NARROW = ['deployment_id', 'name', 'project_id', 'tenant_id'] as const
const WIDE = ['region', 'kind', 'status'] as const

/** Sorts before every id there is. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** A page in the order of ids. */
export function listResources(
  executor: Executor,
  scope: Scope,
  filter: InventoryFilter,
  limit: number,
  after: string | null,
): Promise<ResourceJson[]> {
  const asked: [FilterName, string][] = scope.allTenants ? [] : [['tenant_id', scope.tenantId]]
  for (const name of Object.keys(CONDITIONS) as FilterName[]) {
    const value = filter[name]
    if (value !== undefined) asked.push([name, value])
  }
  const first = (columns: readonly FilterName[]) =>
    columns.map(column => asked.find(([name]) => name === column)).find(found => found !== undefined)
  const narrow = first(NARROW)
  const leading = narrow ?? first(WIDE)
  const values: unknown[] = [limit, after ?? BEFORE_ALL]
  const where = ['id > $2::uuid']
  for (const condition of asked) {
    values.push(condition[1])
    const write = condition === leading ? leadingCondition : CONDITIONS[condition[0]]
    where.push(write(`$${values.length}`, condition[0]))
  }
  if (!filter.include_deleted) where.push('deleted_at is null')
  const used = [...asked.map(([name]) => name), ...(filter.include_deleted ? ['all'] : [])]
  // Planned once for each combination of filters; but how common a tag is, or a region of this kind, decides which way
  // is short, so that those are planned for each value.
  const plannedOnce = narrow !== undefined || (asked.length <= 1 && filter.tag === undefined)
  const name = plannedOnce ? `inventory:${used.map(shortName).join('')}` : ''
  const text = `select id, ${RESOURCE_JSON} as json from cloud_resources
    where ${where.join(' and ')} order by ${leading ? `${leading[0]}, id` : 'id'} limit $1`
  return runStatement<ResourceJson>(executor, { name, text }, values)
}

/**
 * The page is read along this column's index. Written as `column = …` the planner would know that the order by id alone
 * is the same, and for a value it takes for common it would walk the primary key instead: past a million of other
 * kinds, say, when the first sweep stored those before. `any` hides it.
 */
const leadingCondition = (parameter: string, column: string) =>
  `${column} = any(array[${parameter}]::${UUIDS.has(column) ? 'uuid' : 'text'}[])`

const UUIDS = new Set(['project_id', 'deployment_id'])

/** The row as JSON text; undefined when there is none for this caller. */
export async function findResource(
  executor: Executor,
  scope: Scope,
  id: string,
): Promise<ResourceJson | undefined> {
  const text = `select id, ${RESOURCE_JSON} as json from cloud_resources where id = $1::uuid and ($2::text is null or tenant_id = $2)`
  const rows = await runStatement<ResourceJson>(executor, { name: 'inventory_find', text }, [
    id,
    scope.allTenants ? null : scope.tenantId,
  ])
  return rows[0]
}

/** Members of a shown resource that other features bring: name → SQL that gives JSON for cloud_resources `r`. */
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
  const all = Object.entries({ events: LATEST_EVENTS, ...members })
  const text = `select ${RESOURCE_JSON} as json, ${all.map(([name, json]) => `(${json})::text as ${name}`).join(', ')}
    from cloud_resources r where id = $1::uuid and ($2::text is null or tenant_id = $2)`
  const rows = await runStatement<Record<string, string | null>>(executor, { name: 'inventory_show', text }, [
    id,
    scope.allTenants ? null : scope.tenantId,
  ])
  const row = rows[0]
  if (!row) return undefined
  return `${row.json!.slice(0, -1)},${all.map(([name]) => `"${name}":${row[name]}`).join(',')}}`
}

const SHOWN_EVENTS = 50

const LATEST_EVENTS = `select coalesce(json_agg(json_build_object('id', e.id, 'kind', e.kind, 'resource_id', e.resource_id,
    'changes', e.changes, 'actor', e.actor, 'created_at', iso8601(e.created_at)) order by e.id), '[]')
  from (select * from cloud_resource_events where resource_id = r.id order by id desc limit ${SHOWN_EVENTS}) e`

export function listEvents(
  executor: Executor,
  resourceId: string,
  limit: number,
  before: string | null,
): Promise<CloudResourceEventRow[]> {
  return executor
    .selectFrom('cloud_resource_events')
    .selectAll()
    .where('resource_id', '=', resourceId)
    .$if(before !== null, q => q.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export interface TiedResource {
  id: string
  provider_id: string
  name: string
}

/** What of a kind lives and is tied to the deployment. */
export function livingOfDeployment(
  executor: Executor,
  kind: string,
  deploymentId: string,
): Promise<TiedResource[]> {
  return executor
    .selectFrom('cloud_resources')
    .select(['id', 'provider_id', 'name'])
    .where('deployment_id', '=', deploymentId)
    .where('kind', '=', kind)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
}

/** Kind → start of its last complete sweep, as JSON text. */
export async function freshness(executor: Executor, kind?: string): Promise<string> {
  const text = `select coalesce(json_object_agg(kind, iso8601(complete_at) order by kind), '{}')::text as json
    from sync_freshness where kind <> 'project' and ($1::text is null or kind = $1)`
  const rows = await runStatement<{ json: string }>(executor, { name: 'inventory_freshness', text }, [
    kind ?? null,
  ])
  return rows[0]!.json
}

/** How long ago each kind was last swept whole. */
export async function ages(executor: Executor, now: string): Promise<{ kind: string; seconds: number }[]> {
  const { rows } = await sql<{ kind: string; seconds: number }>`
    select kind, extract(epoch from ${now}::timestamptz - complete_at)::float8 as seconds from sync_freshness`.execute(
    executor,
  )
  return rows
}
