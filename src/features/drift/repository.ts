// SQL of what the API shows of drift. The database makes the JSON.
import { type Expression, type SqlBool, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { publishEvents } from '../webhooks/index.ts'
import { liveValue } from './live-value.ts'
import { DesiredState, Drift } from './schemas.ts'
import type { DriftStatus } from './tables.ts'

const DRIFT_JSON = jsonOf(Drift, 'd')
/** A row of cloud_drift_ignored, which never opened. */
const IGNORED_JSON = jsonOf(Drift, 'd', {
  status: `'ignored'`,
  resolved_at: 'null',
  resolved_by: 'null',
  ignore_rule_id: 'd.rule_id',
})

const DRIFT = auditedTable('cloud_drift', { key: ['id'] })
export const DESIRED_STATES = auditedTable('cloud_provisioned', {
  key: ['resource_id'],
  silent: ['updated_at', 'attributes', 'singles', 'tags'],
})

const PUBLISH = {
  name: 'drift',
  text: `select 'drift.' || case d.status when 'open' then 'opened' else d.status end as type,
      case when r.tenant_id = d.tenant_id then d.tenant_id end as tenant_id,
      coalesce(d.resolved_at, d.detected_at) as occurred_at,
      json_build_object('tenant_id', r.tenant_id, 'deployment_id', r.deployment_id, 'drift', ${DRIFT_JSON}) as data
    from cloud_drift d join cloud_resources r on r.id = d.resource_id where d.id = any($1::uuid[])`,
}

/** Publishes that drift was opened, accepted or found stale, as its rows say now. */
export async function publishDrift(tx: Executor, ids: string[]): Promise<void> {
  if (ids.length > 0) await publishEvents(tx, PUBLISH, [ids])
}

/** Open drift that is no longer: what is left of the desired state does not ask for it. */
export async function closeDrift(
  tx: Executor,
  resourceId: string,
  at: string,
  which: Expression<SqlBool> = sql<SqlBool>`true`,
): Promise<void> {
  const closed = await DRIFT.update(
    tx,
    query => query.where('resource_id', '=', resourceId).where('status', '=', 'open').where(which),
    { status: 'stale', resolved_at: at },
  )
  await publishDrift(
    tx,
    closed.map(({ id }) => id),
  )
}

/** What the inventory shows of a resource `r` beside what it knows itself: member → SQL. To a tenant only its own. */
export const resourceMembers = {
  desired_state: `(select ${jsonOf(DesiredState, 'p')}
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
 * The live value as it is now becomes the desired one. The caller holds the resource and its desired state; undefined when
 * nothing of the kind is desired any more, and then nothing has changed.
 */
export async function adoptLiveValue(
  tx: Executor,
  id: string,
  at: string,
  actor: string,
): Promise<{ json: string; spec_version: number } | undefined> {
  const live = await sql<{ resource_id: string; tenant_id: string | null; field: string; value: string }>`
    select d.resource_id, r.tenant_id, d.field, coalesce(${sql.raw(liveValue('d.field'))}, 'null')::text as value
    from cloud_drift d join cloud_resources r on r.id = d.resource_id
    where d.id = ${id} and d.status = 'open'`.execute(tx)
  if (!live.rows[0]) return undefined
  const { resource_id, tenant_id, field, value } = live.rows[0]
  const [adopted] = await DESIRED_STATES.update(
    tx,
    { resource_id, tenant_id },
    {
      spec: sql`spec || jsonb_build_object(${field}::text, ${value}::jsonb)`,
      spec_version: sql`spec_version + 1`,
      updated_at: at,
    },
  )
  if (!adopted) return undefined
  await DRIFT.update(
    tx,
    { id },
    {
      status: 'accepted',
      actual: sql`${value}::jsonb`,
      resolved_at: at,
      resolved_by: actor,
    },
  )
  await publishDrift(tx, [id])
  return { json: (await findDrift(tx, id))!, spec_version: adopted.spec_version }
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
