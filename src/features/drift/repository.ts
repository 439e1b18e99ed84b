// SQL of what the API shows of drift. The database makes the JSON.
import { sql } from 'kysely'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { liveValue } from './live-value.ts'
import type { DriftStatus } from './tables.ts'

/** A row of cloud_drift `d`, or of cloud_drift_ignored, with what the inbox shows of its resource `r`. */
const rowJson = (ignored: boolean) => `json_build_object(
  'id', d.id, 'resource_id', d.resource_id, 'kind', d.kind, 'name', r.name, 'provider_id', r.provider_id,
  'tenant_id', r.tenant_id, 'resource_deleted_at', iso8601(r.deleted_at), 'field', d.field, 'desired', d.desired,
  'actual', d.actual, 'status', ${ignored ? `'ignored'` : 'd.status'}, 'detected_at', iso8601(d.detected_at),
  'last_detected_at', iso8601(d.last_detected_at), 'resolved_at', ${ignored ? 'null' : 'iso8601(d.resolved_at)'},
  'resolved_by', ${ignored ? 'null' : 'd.resolved_by'}, 'ignore_rule_id', ${ignored ? 'd.rule_id' : 'null'})`

const DRIFT_JSON = rowJson(false)
const IGNORED_JSON = rowJson(true)

/** What the inventory shows of a resource `r` beside what it knows itself: member → SQL. To a tenant only its own. */
export const resourceMembers = {
  desired_state: `(select json_build_object('spec', p.spec, 'spec_version', p.spec_version, 'saga_id', p.saga_id)
    from cloud_provisioned p where p.resource_id = r.id and ($2::text is null or p.tenant_id = $2))`,
  drift: `(select coalesce(json_agg(${DRIFT_JSON} order by d.field), '[]')
    from cloud_drift d where d.resource_id = r.id and d.status = 'open' and ($2::text is null or d.tenant_id = $2))`,
}

export interface DriftFilter {
  status: DriftStatus
  kind?: string
  resource_id?: string
}

interface ShownDrift {
  id: string
  json: string
}

/**
 * Newest first. The leading column is hidden from the planner (`any`), which would otherwise walk the primary key past
 * a long history to find a few open rows.
 */
export function listDrift(
  executor: Executor,
  { status, kind, resource_id }: DriftFilter,
  limit: number,
  before: string | null,
): Promise<ShownDrift[]> {
  const values: unknown[] = [limit, before ?? AFTER_ALL, status]
  const where = ['d.id < $2::uuid', 'd.status = any(array[$3]::text[])']
  let order = 'd.status desc, d.id desc'
  if (kind !== undefined) {
    values.push(kind)
    where.push(`d.kind = any(array[$${values.length}]::text[])`)
    order = `d.kind desc, ${order}`
  }
  if (resource_id !== undefined) {
    values.push(resource_id)
    where.push(`d.resource_id = any(array[$${values.length}]::uuid[])`)
    order = 'd.resource_id desc, d.id desc'
  }
  const name = `drift:${kind === undefined ? '' : 'kind'}${resource_id === undefined ? '' : 'resource'}`
  const text = `select d.id, ${DRIFT_JSON}::text as json from cloud_drift d join cloud_resources r on r.id = d.resource_id
    where ${where.join(' and ')} order by ${order} limit $1`
  return runStatement(executor, { name, text }, values)
}

/** Sorts behind every id there is. */
const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** What the last sweep found and a rule covers, newest first. */
export function listIgnored(
  executor: Executor,
  { kind, resource_id }: Omit<DriftFilter, 'status'>,
  limit: number,
  before: string | null,
): Promise<ShownDrift[]> {
  const text = `select d.id, ${IGNORED_JSON}::text as json from cloud_drift_ignored d join cloud_resources r on r.id = d.resource_id
    where d.id < $2::uuid and ($3::text is null or d.kind = $3) and ($4::uuid is null or d.resource_id = $4)
    order by d.id desc limit $1`
  return runStatement(executor, { name: '', text }, [
    limit,
    before ?? AFTER_ALL,
    kind ?? null,
    resource_id ?? null,
  ])
}

const FIND = {
  name: 'drift_find',
  text: `select ${DRIFT_JSON}::text as json from cloud_drift d join cloud_resources r on r.id = d.resource_id where d.id = $1::uuid
    union all
    select ${IGNORED_JSON}::text from cloud_drift_ignored d join cloud_resources r on r.id = d.resource_id where d.id = $1::uuid`,
}

/** Open, resolved or ignored, as JSON text. */
export async function findDrift(executor: Executor, id: string): Promise<string | undefined> {
  return (await runStatement<{ json: string }>(executor, FIND, [id]))[0]?.json
}

/** The resource that a drift, open or not, or an ignored mismatch belongs to. */
export async function resourceOfDrift(executor: Executor, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ resource_id: string }>`
    select resource_id from cloud_drift where id = ${id}
    union all select resource_id from cloud_drift_ignored where id = ${id}`.execute(executor)
  return rows[0]?.resource_id
}

/** Undefined for one that is only ignored. */
export async function statusOfDrift(tx: Executor, id: string): Promise<DriftStatus | undefined> {
  const row = await tx.selectFrom('cloud_drift').select('status').where('id', '=', id).executeTakeFirst()
  return row?.status
}

/**
 * The live value as it is now becomes the desired one. The caller holds the resource and its desired state; no row when
 * the drift is not open, and then nothing has changed.
 */
export async function adoptLiveValue(
  tx: Executor,
  id: string,
  at: string,
  actor: string,
): Promise<{ json: string; spec_version: number } | undefined> {
  const { rows } = await sql<{ json: string; spec_version: number }>`
    with live as (
      select d.id, d.resource_id, d.field, r.tenant_id, coalesce(${sql.raw(liveValue('d.field'))}, 'null') as value
      from cloud_drift d join cloud_resources r on r.id = d.resource_id
      where d.id = ${id} and d.status = 'open'
    ), adopted as (
      update cloud_provisioned p set spec = p.spec || jsonb_build_object(l.field, l.value),
        spec_version = p.spec_version + 1, updated_at = ${at}
      from live l where p.resource_id = l.resource_id and p.tenant_id is not distinct from l.tenant_id
      returning p.spec_version
    ), accepted as (
      update cloud_drift d set status = 'accepted', actual = l.value, resolved_at = ${at}, resolved_by = ${actor}
      from live l, adopted where d.id = l.id
      returning d.*
    )
    select ${sql.raw(DRIFT_JSON)}::text as json, a.spec_version
    from accepted d join cloud_resources r on r.id = d.resource_id cross join adopted a`.execute(tx)
  return rows[0]
}

/** By the index on the status. */
export async function countOpen(executor: Executor): Promise<number> {
  const { count } = await executor
    .selectFrom('cloud_drift')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow()
  return Number(count)
}
