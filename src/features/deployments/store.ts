// All SQL of deployments and of their events.
import { sql } from 'kysely'
import { auditedTable, entryInStatement } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf, jsonOf } from '../../kernel/noun.ts'
import { following, SUBSCRIPTION_OF_DEPLOYMENT, type SubscriptionStatus } from '../subscriptions/index.ts'
import { publishing } from '../webhooks/index.ts'
import {
  type CloudDeploymentEventRow,
  type CloudDeploymentRow,
  Deployment,
  DeploymentDetail,
  DeploymentEvent,
} from './deployment.ts'
import type { DeploymentState } from './lifecycle.ts'

export const DEPLOYMENTS = auditedTable('cloud_deployments', {
  key: ['id'],
  silent: ['updated_at'],
  columns: columnsOf(Deployment),
})

const DEPLOYMENT_JSON = jsonOf(Deployment, 'd')
const EVENT_JSON = jsonOf(DeploymentEvent, 'e')

/** Named one by one: a prepared `select *` fails when a migration adds a column. */
const columns = (row: string) =>
  columnsOf(Deployment)
    .map(column => `${row}.${column}`)
    .join(', ')

/** A tenant-scoped statement ends with this; its parameter is the tenant, or null for all. */
const inScope = (parameter: number) => `($${parameter}::text is null or d.tenant_id = $${parameter})`
const tenantOf = (scope: Scope) => (scope.allTenants ? null : scope.tenantId)

const SHOWN_EVENTS = 50

const SHOW = {
  name: 'deployment_show',
  text: `select ${jsonOf(DeploymentDetail, 'd', {
    allowed_transitions: `case when d.billing_action_suspended then $4::json else $3::json end -> d.state`,
    subscription: `(${SUBSCRIPTION_OF_DEPLOYMENT('d.id', '$5::timestamptz')})`,
    events: `(select coalesce(json_agg(${EVENT_JSON} order by e.id), '[]') from (
      select * from cloud_deployment_events where deployment_id = d.id order by id desc limit ${SHOWN_EVENTS}) e)`,
  })}::text as json
  from cloud_deployments d where d.id = $1::uuid and ${inScope(2)}`,
}

/** With its subscription and its latest events, as JSON text. `allowed` and `allowedIfSuspended` are JSON: state → moves. */
export async function showDeployment(
  executor: Executor,
  scope: Scope,
  id: string,
  { allowed, allowedIfSuspended }: { allowed: string; allowedIfSuspended: string },
  now: Date,
): Promise<string | undefined> {
  const values = [id, tenantOf(scope), allowed, allowedIfSuspended, now.toISOString()]
  return (await runStatement<{ json: string }>(executor, SHOW, values))[0]?.json
}

export interface DeploymentFilter {
  state?: DeploymentState
  region?: string
  slug?: string
  tenant_id?: string
}

export function listDeployments(
  executor: Executor,
  scope: Scope,
  filter: DeploymentFilter,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> {
  return listPage(executor, {
    name: 'deployments',
    select: `select d.id, ${DEPLOYMENT_JSON}::text as json from cloud_deployments d`,
    filters: {
      scope: ['d.tenant_id = ?', tenantOf(scope)],
      state: ['d.state = ?', filter.state],
      region: ['d.region = ?', filter.region],
      slug: ['d.slug = ?', filter.slug],
      tenant_id: ['d.tenant_id = ?', filter.tenant_id],
    },
    orderBy: ['d.id'],
    after,
    limit,
  })
}

const LIST_EVENTS = {
  name: 'deployment_events',
  text: `select e.id, ${EVENT_JSON}::text as json from cloud_deployment_events e
    where e.deployment_id = $1::uuid and e.id < $2::uuid order by e.id desc limit $3`,
}

/** Sorts behind every id there is. */
const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Newest first. */
export const listEvents = (
  executor: Executor,
  deploymentId: string,
  limit: number,
  before: string | null,
): Promise<{ id: string; json: string }[]> =>
  runStatement(executor, LIST_EVENTS, [deploymentId, before ?? AFTER_ALL, limit])

const FIND = {
  name: 'deployment_find',
  text: `select ${columns('d')} from cloud_deployments d where d.id = $1::uuid and ${inScope(2)}`,
}

export async function findDeployment(
  executor: Executor,
  scope: Scope,
  id: string,
): Promise<CloudDeploymentRow | undefined> {
  return (await runStatement<CloudDeploymentRow>(executor, FIND, [id, tenantOf(scope)]))[0]
}

export async function deploymentExists(executor: Executor, id: string): Promise<boolean> {
  return (await findDeployment(executor, { allTenants: true }, id)) !== undefined
}

/** Keeps the deployment from moving until the transaction ends. */
export async function lockDeployment(
  tx: Executor,
  scope: Scope,
  id: string,
): Promise<CloudDeploymentRow | undefined> {
  const text = `${FIND.text} for share`
  return (
    await runStatement<CloudDeploymentRow>(tx, { name: 'deployment_lock', text }, [id, tenantOf(scope)])
  )[0]
}

/** The same, and nobody else locks it meanwhile. */
export async function lockDeploymentAlone(tx: Executor, id: string): Promise<CloudDeploymentRow | undefined> {
  const text = `${FIND.text} for no key update`
  return (await runStatement<CloudDeploymentRow>(tx, { name: 'deployment_lock_alone', text }, [id, null]))[0]
}

/** A move that is asked for: its event, but for the state that it leaves. */
export interface Move extends Omit<CloudDeploymentEventRow, 'from_state'> {
  /** The states that it may leave. */
  from: readonly DeploymentState[]
  /** Whether it must not happen while billing actions are suspended. */
  billing_action: boolean
  /** What its subscription becomes; null leaves it as it is. */
  subscription_status: SubscriptionStatus | null
}

export interface Moved {
  /** Where the deployment was, and whether its billing actions were suspended, when the move began. */
  from_state: DeploymentState
  suspended: boolean
  /** The deployment as it is now, as JSON text; null when it was not moved. */
  json: string | null
  /** The event's, if it was moved: a little later than was asked for where another node's clock is ahead of this one's. */
  event_id: string
  created_at: string
  /** The subscription that took its status. */
  followed: string | null
}

// The guard: no row is written when the deployment has left the state it was read in while this waited for another move,
// or billing actions were suspended meanwhile. The same statement writes and publishes the event, moves the subscription along
// and writes the entries of the audit log.
const MOVED_ENTRY = entryInStatement(
  12,
  {
    tenant_id: 'm.tenant_id',
    before: `jsonb_build_object('state', m.from_state)`,
    after: `jsonb_build_object('state', m.state)`,
  },
  'moved m',
)
const FOLLOWING = following('moved', '$11', '$9', MOVED_ENTRY.next)
// Nodes tell the database's time to within half a round trip: two moves in a row by two of them could be dated the wrong way
// round, and events are shown in the order of their ids. So each is put after the one before it. A difference of minutes is
// none of clocks: the tenant's test clock has ended.
const AFTER_LAST_MOVE = `case when d.updated_at >= $9::timestamptz and d.updated_at < $9::timestamptz + interval '1 minute'
  then d.updated_at + interval '1 millisecond' else $9::timestamptz end`
const MILLIS_AFTER_LAST = `lpad(to_hex(('x' || lpad(replace(left(was.last_id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint + 1), 12, '0')`
const ID_AFTER_LAST = `case when was.last_id >= $4::uuid
  then (left(${MILLIS_AFTER_LAST}, 8) || '-' || right(${MILLIS_AFTER_LAST}, 4) || substr($4::text, 14))::uuid else $4::uuid end`
const MOVE = {
  name: 'deployment_move',
  text: `with was as (
      select d.id, d.tenant_id, d.state, d.billing_action_suspended, (
        select e.id from cloud_deployment_events e where e.deployment_id = d.id order by e.id desc limit 1) as last_id
      from cloud_deployments d where d.id = $1::uuid and ${inScope(2)}
    ), moved as (
      update cloud_deployments d set state = $5, updated_at = ${AFTER_LAST_MOVE} from was
      where d.id = was.id and d.state = was.state and was.state = any($3::text[])
        and not ($10 and d.billing_action_suspended)
      returning d.*, was.state as from_state, ${ID_AFTER_LAST} as event_id
    ), recorded as (
      insert into cloud_deployment_events (id, deployment_id, from_state, to_state, actor, actor_role, reason, created_at)
      select m.event_id, m.id, m.from_state, m.state, $6, $7, $8, m.updated_at from moved m returning *
    ), ${publishing(`select 'deployment.transitioned' as type, d.tenant_id, e.created_at as occurred_at,
        json_build_object('tenant_id', d.tenant_id, 'deployment', ${DEPLOYMENT_JSON}, 'event', ${EVENT_JSON}) as data
      from recorded e join moved d on d.id = e.deployment_id`)}, entry as (${MOVED_ENTRY.sql}),
    ${FOLLOWING.sql}
    select was.state as from_state, was.billing_action_suspended as suspended,
      m.event_id, m.updated_at as created_at, case when m.id is not null then ${jsonOf(Deployment, 'm')}::text end as json,
      (select f.id from followed f) as followed
    from was left join moved m on true`,
}

/** Undefined when there is no such deployment in the scope. */
export async function moveDeployment(tx: Executor, scope: Scope, move: Move): Promise<Moved | undefined> {
  const { id, deployment_id, to_state, actor, actor_role, reason, created_at } = move
  const [moved] = await runStatement<Moved>(tx, MOVE, [
    ...[deployment_id, tenantOf(scope), move.from],
    ...[id, to_state, actor, actor_role, reason, created_at, move.billing_action, move.subscription_status],
    ...MOVED_ENTRY.values('updated', { subjectType: DEPLOYMENTS.table, subjectId: deployment_id }),
    ...FOLLOWING.values(),
  ])
  return moved
}

export interface BilledDeployment {
  id: string
  tenant_id: string
  slug: string
}

export interface BilledFilter {
  id?: string
  tenantIds?: string[]
}

/** Deployments as those who charge for them need them, in the order of ids. */
export async function listBilled(
  executor: Executor,
  scope: Scope,
  { id, tenantIds }: BilledFilter,
  limit: number,
  after: string | null,
): Promise<BilledDeployment[]> {
  return executor
    .selectFrom('cloud_deployments')
    .select(['id', 'tenant_id', 'slug'])
    .$if(!scope.allTenants, q => q.where('tenant_id', '=', tenantOf(scope)!))
    .$if(id !== undefined, q => q.where('id', '=', id!))
    .$if(tenantIds !== undefined, q => q.where('tenant_id', '=', sql<string>`any(${tenantIds}::text[])`))
    .$if(after !== null, q => q.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .execute()
}

const FIND_NAMED = {
  name: 'deployments_named',
  text: `select d.id, d.tenant_id, d.created_at from cloud_deployments d where d.id = any($1::uuid[]) and ${inScope(2)}`,
}

/** Those of the ids that there are in the scope. */
export const findNamed = (
  executor: Executor,
  scope: Scope,
  ids: readonly string[],
): Promise<Pick<CloudDeploymentRow, 'id' | 'tenant_id' | 'created_at'>[]> =>
  runStatement(executor, FIND_NAMED, [ids, tenantOf(scope)])

/** When the first of all deployments was made; those under a test clock do not count, and after one from its time on. */
export async function firstMadeAt(executor: Executor): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select min(greatest(d.created_at, (select max(c.now) from test_clocks c where c.tenant_id = d.tenant_id))) as at
    from cloud_deployments d
    where not exists (select from test_clocks c where c.tenant_id = d.tenant_id and c.ended_at is null)`.execute(
    executor,
  )
  return rows[0]!.at
}

/** When the first of a tenant's was made, by the tenant's time. */
export async function firstMadeOf(executor: Executor, tenantId: string): Promise<string | null> {
  const { at } = await executor
    .selectFrom('cloud_deployments')
    .select(({ fn }) => fn.min('created_at').as('at'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow()
  return at
}
