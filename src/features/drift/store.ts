// All SQL of drift, desired states and ignore rules but the sweep's (sweep-store.ts).
import { type SqlBool, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { publishEvents } from '../webhooks/index.ts'
import {
  AcceptedDrift,
  type CloudProvisionedRow,
  DesiredState,
  Drift,
  type DriftIgnoreRuleRow,
  type DriftStatus,
  IgnoreRule,
} from './drift.ts'
import { liveValue } from './spec.ts'

const DRIFT = auditedTable('cloud_drift', { key: ['id'] })
const DESIRED_STATES = auditedTable('cloud_provisioned', {
  key: ['resource_id'],
  silent: ['updated_at', 'attributes', 'singles', 'tags'],
})
export const IGNORE_RULES = auditedTable('drift_ignore_rules', { key: ['id'] })

const DRIFT_JSON = jsonOf(Drift, 'd')
/** Of a row of cloud_drift_ignored, which never opened. */
const IGNORED_JSON = jsonOf(Drift, 'd', {
  status: `'ignored'`,
  resolved_at: 'null',
  resolved_by: 'null',
  ignore_rule_id: 'd.rule_id',
  action: 'null',
})
const DRIFT_FROM = 'from cloud_drift d join cloud_resources r on r.id = d.resource_id'
const IGNORED_FROM = 'from cloud_drift_ignored d join cloud_resources r on r.id = d.resource_id'

interface Listed {
  id: string
  json: string
}

export interface DriftFilter {
  kind?: string
  resource_id?: string
}

/** Which index serves a list, by the filter that it begins with. */
const ORDERS = {
  resource_id: ['d.resource_id', 'd.id'],
  kind: ['d.kind', 'd.status', 'd.id'],
  status: ['d.status', 'd.id'],
}

/**
 * Newest first. `any` hides from the planner that the index's first column is constant: otherwise it would walk the primary
 * key past a long history to find a few open rows. The cursor is a condition on the id alone, because a row comparison
 * would walk the index from its newest entry.
 */
export function listDrift(
  executor: Executor,
  { status, kind, resource_id }: DriftFilter & { status: DriftStatus },
  limit: number,
  after: Key | null,
): Promise<Listed[]> {
  const first = resource_id ? 'resource_id' : kind ? 'kind' : 'status'
  const equals = (column: keyof typeof ORDERS, type: string) =>
    column === first ? `d.${column} = any(array[?]::${type}[])` : `d.${column} = ?`
  return listPage(executor, {
    name: 'drift',
    select: `select d.id, ${DRIFT_JSON}::text as json ${DRIFT_FROM}`,
    filters: {
      status: [equals('status', 'text'), status],
      kind: [equals('kind', 'text'), kind],
      resource_id: [equals('resource_id', 'uuid'), resource_id],
      before: ['d.id < ?', after?.[0]],
    },
    orderBy: ORDERS[first],
    descending: true,
    after: null,
    limit,
  })
}

/** What the last sweep found and a rule covers, newest first. */
export const listIgnored = (
  executor: Executor,
  { kind, resource_id }: DriftFilter,
  limit: number,
  after: Key | null,
): Promise<Listed[]> =>
  listPage(executor, {
    name: 'drift_ignored',
    select: `select d.id, ${IGNORED_JSON}::text as json ${IGNORED_FROM}`,
    filters: { kind: ['d.kind = ?', kind], resource_id: ['d.resource_id = ?', resource_id] },
    orderBy: ['d.id'],
    descending: true,
    after,
    limit,
  })

const FIND = {
  name: 'drift_find',
  text: `select ${DRIFT_JSON}::text as json ${DRIFT_FROM} where d.id = $1::uuid
    union all select ${IGNORED_JSON}::text ${IGNORED_FROM} where d.id = $1::uuid`,
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

/** What is open, by kind and field; the most first. */
export async function openByField(
  executor: Executor,
): Promise<{ kind: string; field: string; open: number }[]> {
  const { rows } = await sql<{ kind: string; field: string; open: number }>`
    select kind, field, count(*)::int as open from cloud_drift where status = 'open'
    group by kind, field order by open desc, kind, field`.execute(executor)
  return rows
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

/** What the inventory shows of a resource `r` beside what it knows itself: member → SQL. To a tenant only its own. */
export const resourceMembers = {
  desired_state: `(select ${jsonOf(DesiredState, 'p')}
    from cloud_provisioned p where p.resource_id = r.id and ($2::text is null or p.tenant_id = $2))`,
  drift: `(select coalesce(json_agg(${DRIFT_JSON} order by d.field), '[]')
    from cloud_drift d where d.resource_id = r.id and d.status = 'open' and ($2::text is null or d.tenant_id = $2))`,
}

const PUBLISH = {
  name: 'drift',
  text: `select 'drift.' || case d.status when 'open' then 'opened' else d.status end as type,
      case when r.tenant_id = d.tenant_id then d.tenant_id end as tenant_id,
      coalesce(d.resolved_at, d.detected_at) as occurred_at,
      json_build_object('tenant_id', r.tenant_id, 'deployment_id', r.deployment_id, 'drift', ${DRIFT_JSON}) as data
    ${DRIFT_FROM} where d.id = any($1::uuid[])`,
}

/** Publishes that drift was opened, accepted or found stale, as its rows say now. */
export async function publishDrift(tx: Executor, ids: string[]): Promise<void> {
  if (ids.length > 0) await publishEvents(tx, PUBLISH, [ids])
}

export interface LockedResource {
  tenant_id: string | null
  deleted_at: string | null
}

/** Keeps the resource from changing until the transaction ends; undefined when there is none. */
export async function lockResource(tx: Executor, resourceId: string): Promise<LockedResource | undefined> {
  const { rows } = await sql<LockedResource>`
    select tenant_id, deleted_at from cloud_resources where id = ${resourceId} for no key update`.execute(tx)
  return rows[0]
}

/** Keeps the desired states of these resources, and their drift, from changing until the transaction ends. */
export async function lockDesiredStates(tx: Executor, resourceIds: string[]): Promise<void> {
  await sql`
    select 1 from cloud_provisioned where resource_id = any(${resourceIds}::uuid[])
    order by resource_id for no key update`.execute(tx)
}

type NewDesiredState = Pick<CloudProvisionedRow, 'resource_id' | 'tenant_id' | 'spec' | 'saga_id'>

/** The version goes up when the spec changes, and only then. */
export function saveDesiredState(
  tx: Executor,
  at: string,
  state: NewDesiredState,
): Promise<CloudProvisionedRow> {
  const spec = sql<NewDesiredState['spec']>`${JSON.stringify(state.spec)}::jsonb`
  const isNew = sql<boolean>`spec is distinct from ${spec}`
  return DESIRED_STATES.upsert(
    tx,
    ['resource_id'],
    { ...state, spec_version: 1, created_at: at, updated_at: at },
    {
      tenant_id: state.tenant_id,
      spec,
      saga_id: sql`coalesce(${state.saga_id}, saga_id)`,
      spec_version: sql`spec_version + (${isNew})::int`,
      updated_at: sql`case when ${isNew} then ${at} else updated_at end`,
    },
  )
}

/** Whether there was one. */
export async function deleteDesiredStateOf(tx: Executor, resourceId: string): Promise<boolean> {
  return (await DESIRED_STATES.delete(tx, { resource_id: resourceId })).length > 0
}

/** The resources whose desired state is on record as this saga's. */
export async function resourcesDesiredBy(executor: Executor, sagaId: string): Promise<string[]> {
  const query = executor.selectFrom('cloud_provisioned').select('resource_id').where('saga_id', '=', sagaId)
  return (await query.execute()).map(row => row.resource_id)
}

/** Closes drift that the desired state no longer asks for: of other fields, and of when the resource was another tenant's. */
export async function closeDrift(
  tx: Executor,
  at: string,
  { resource_id, tenant_id, spec }: Omit<NewDesiredState, 'saga_id'>,
): Promise<void> {
  const desired = sql<SqlBool>`${JSON.stringify(spec)}::jsonb ? field`
  const closed = await DRIFT.update(
    tx,
    query =>
      query
        .where('resource_id', '=', resource_id)
        .where('status', '=', 'open')
        .where(sql<SqlBool>`(not ${desired} or tenant_id is distinct from ${tenant_id})`),
    { status: 'stale', resolved_at: at },
  )
  const ids = closed.map(({ id }) => id)
  await publishDrift(tx, ids)
  await sql`delete from cloud_drift_ignored where resource_id = ${resource_id} and not ${desired}`.execute(tx)
}

/**
 * The live value as it is now becomes the desired one; the drift as JSON text, with the version of the spec. The caller has
 * locked the resource and its desired state. Undefined when the field is not desired any more, and then nothing has changed.
 */
export async function adoptLiveValue(
  tx: Executor,
  at: string,
  id: string,
  actor: string,
): Promise<string | undefined> {
  const live = await sql<{ resource_id: string; tenant_id: string | null; field: string; value: string }>`
    select d.resource_id, r.tenant_id, d.field, coalesce(${sql.raw(liveValue('d.field'))}, 'null')::text as value
    ${sql.raw(DRIFT_FROM)} where d.id = ${id} and d.status = 'open'`.execute(tx)
  if (!live.rows[0]) return undefined
  const { resource_id, tenant_id, field, value } = live.rows[0]
  const adopted = await DESIRED_STATES.update(
    tx,
    { resource_id, tenant_id },
    {
      spec: sql`spec || jsonb_build_object(${field}::text, ${value}::jsonb)`,
      spec_version: sql`spec_version + 1`,
      updated_at: at,
    },
  )
  if (adopted.length === 0) return undefined
  await DRIFT.update(
    tx,
    { id },
    { status: 'accepted', actual: sql`${value}::jsonb`, resolved_at: at, resolved_by: actor },
  )
  await publishDrift(tx, [id])
  return (await runStatement<{ json: string }>(tx, ACCEPTED, [id]))[0]!.json
}

const ACCEPTED = {
  name: 'drift_accepted',
  text: `select ${jsonOf(AcceptedDrift, 'd', { spec_version: 'p.spec_version' })}::text as json
    ${DRIFT_FROM} join cloud_provisioned p on p.resource_id = d.resource_id where d.id = $1::uuid`,
}

/** Newest first, expired ones too. */
export const listRules = (executor: Executor, limit: number, after: Key | null): Promise<Listed[]> =>
  listPage(executor, {
    name: 'ignore_rules',
    select: `select i.id, ${jsonOf(IgnoreRule, 'i')}::text as json from drift_ignore_rules i`,
    orderBy: ['i.id'],
    descending: true,
    after,
    limit,
  })

export function findRule(executor: Executor, id: string): Promise<DriftIgnoreRuleRow | undefined> {
  return executor.selectFrom('drift_ignore_rules').selectAll().where('id', '=', id).executeTakeFirst()
}
