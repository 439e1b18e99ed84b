// Reads of the inventory. The database makes the JSON: attributes go from its page to the wire without being parsed.
import type { Engine } from '../../kernel/db/engine.ts'
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

/** Each filter's condition, with its parameter's place to be filled in. */
const CONDITIONS: Record<Exclude<keyof InventoryFilter, 'include_deleted'>, (parameter: string) => string> = {
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

/** One prepared statement for each combination of filters that is asked for. */
export function listResources(
  engine: Engine,
  scope: Scope,
  filter: InventoryFilter,
  limit: number,
  after: string | null,
): Promise<ResourceJson[]> {
  const values: unknown[] = [limit]
  const where: string[] = []
  const used: string[] = []
  const add = (name: string, condition: (parameter: string) => string, value: unknown) => {
    values.push(value)
    where.push(condition(`$${values.length}`))
    used.push(name)
  }
  if (!scope.allTenants) add('scope', CONDITIONS.tenant_id, scope.tenantId)
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const value = filter[name as keyof typeof CONDITIONS]
    if (value !== undefined) add(name, condition, value)
  }
  if (after !== null) add('after', p => `id > ${p}::uuid`, after)
  if (!filter.include_deleted) where.push('deleted_at is null')
  else used.push('all')
  const conditions = where.length > 0 ? `where ${where.join(' and ')}` : ''
  const text = `select id, ${RESOURCE_JSON} as json from cloud_resources ${conditions} order by id limit $1`
  return engine.read<ResourceJson>({ name: `inventory:${used.map(shortName).join('')}`, text }, values)
}

/** The row as JSON text; undefined when there is none for this caller. */
export async function findResource(
  engine: Engine,
  scope: Scope,
  id: string,
): Promise<ResourceJson | undefined> {
  const text = `select id, ${RESOURCE_JSON} as json from cloud_resources where id = $1::uuid and ($2::text is null or tenant_id = $2)`
  const rows = await engine.read<ResourceJson>({ name: 'inventory_find', text }, [
    id,
    scope.allTenants ? null : scope.tenantId,
  ])
  return rows[0]
}

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

/** Kind → start of its last complete sweep, as JSON text. */
export async function freshness(engine: Engine, kind?: string): Promise<string> {
  const text = `select coalesce(json_object_agg(kind, iso8601(complete_at) order by kind), '{}')::text as json
    from sync_freshness where kind <> 'project' and ($1::text is null or kind = $1)`
  const rows = await engine.read<{ json: string }>({ name: 'inventory_freshness', text }, [kind ?? null])
  return rows[0]!.json
}
