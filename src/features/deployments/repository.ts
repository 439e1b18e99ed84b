// SQL of deployments. The database makes the JSON, and what belongs together is one statement.
import { sql } from 'kysely'
import { actingText } from '../../kernel/acting.ts'
import { auditedInsert, auditedValues } from '../../kernel/audit-entry.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { SUBSCRIPTION_JSON, type SubscriptionStatus } from '../subscriptions/index.ts'
import type { DeploymentState } from './lifecycle.ts'
import type { CloudDeploymentEventRow, CloudDeploymentRow } from './tables.ts'

/** The row `d` as JSON text. */
const jsonOf = (d: string) => `json_build_object(
  'id', ${d}.id, 'tenant_id', ${d}.tenant_id, 'slug', ${d}.slug, 'display_name', ${d}.display_name, 'region', ${d}.region,
  'state', ${d}.state, 'llm_mode', ${d}.llm_mode, 'billing_action_suspended', ${d}.billing_action_suspended,
  'billing_action_suspended_by', ${d}.billing_action_suspended_by,
  'billing_action_suspended_at', iso8601(${d}.billing_action_suspended_at),
  'billing_action_suspended_reason', ${d}.billing_action_suspended_reason,
  'template_code', ${d}.template_code, 'template_version', ${d}.template_version,
  'created_at', iso8601(${d}.created_at), 'updated_at', iso8601(${d}.updated_at))::text`
const DEPLOYMENT_JSON = jsonOf('d')

const EVENT_JSON = `json_build_object(
  'id', e.id, 'deployment_id', e.deployment_id, 'from_state', e.from_state, 'to_state', e.to_state, 'actor', e.actor,
  'actor_role', e.actor_role, 'reason', e.reason, 'created_at', iso8601(e.created_at))`

/** A tenant-scoped statement ends with this; its last parameter is the tenant, or null for all. */
const inScope = (parameter: number) => `($${parameter}::text is null or d.tenant_id = $${parameter})`
const tenantOf = (scope: Scope) => (scope.allTenants ? null : scope.tenantId)

const COLUMNS = [
  'id',
  'tenant_id',
  'slug',
  'display_name',
  'region',
  'state',
  'llm_mode',
  'billing_action_suspended',
  'template_code',
  'template_version',
  'created_at',
  'updated_at',
] as const

const INSERT = {
  name: 'deployment_insert',
  text: auditedInsert('cloud_deployments', COLUMNS),
}

export async function insertDeployment(executor: Executor, row: CloudDeploymentRow): Promise<void> {
  const { updated_at, ...shown } = row
  await runStatement(executor, INSERT, auditedValues(executor, row, COLUMNS, shown))
}

export interface DeploymentParts {
  state: DeploymentState
  /** Whether billing actions are held off. */
  held: boolean
  deployment: string
  /** JSON text, or null. */
  subscription: string | null
  events: string
}

const SHOWN_EVENTS = 50

const SHOW = {
  name: 'deployment_show',
  text: `select d.state, d.billing_action_suspended as held, ${DEPLOYMENT_JSON} as deployment,
    (select ${SUBSCRIPTION_JSON} from subscriptions s join plan_versions v on v.id = s.plan_version_id join plans p on p.id = v.plan_id where s.deployment_id = d.id) as subscription,
    (select coalesce(json_agg(${EVENT_JSON} order by e.id), '[]')::text from (
      select * from cloud_deployment_events where deployment_id = d.id order by id desc limit ${SHOWN_EVENTS}) e) as events
    from cloud_deployments d where d.id = $1::uuid and ${inScope(2)}`,
}

export async function showDeployment(
  executor: Executor,
  scope: Scope,
  id: string,
): Promise<DeploymentParts | undefined> {
  return (await runStatement<DeploymentParts>(executor, SHOW, [id, tenantOf(scope)]))[0]
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

export async function isInScope(executor: Executor, scope: Scope, id: string): Promise<boolean> {
  const text = `select 1 from cloud_deployments d where d.id = $1::uuid and ${inScope(2)}`
  return (
    (await runStatement(executor, { name: 'deployment_in_scope', text }, [id, tenantOf(scope)])).length > 0
  )
}

export type Move = Omit<CloudDeploymentEventRow, 'from_state'> & {
  /** The states that the deployment may leave by this move, as far as the caller may move it. */
  from_states: readonly DeploymentState[]
  /** Whether `billing_action_suspended` holds it off. */
  billing_action: boolean
  /** What its subscription becomes; null leaves it alone. */
  follow: SubscriptionStatus | null
}

export interface Moved {
  /** Where it was; null when there is no such deployment. */
  from_state: DeploymentState | null
  /** Whether billing actions are held off. */
  held: boolean
  /** As it is now, as JSON text; null when it did not move. */
  deployment: string | null
}

// The database's function is the transaction: one round trip instead of five.
const MOVE = {
  name: 'deployment_move',
  text: `select m.from_state, m.held, case when (m.d).id is not null then ${jsonOf('(m.d)')} end as deployment
    from move_deployment($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) m`,
}

/** Read, and written only if it is still where it was read: a move that came in between wins, and this one does nothing. */
export async function moveDeployment(executor: Executor, scope: Scope, move: Move): Promise<Moved> {
  const { id, deployment_id, from_states, to_state, billing_action, follow } = move
  const { actor, actor_role, reason, created_at } = move
  const values = [deployment_id, tenantOf(scope), from_states, to_state, billing_action, follow]
  const event = [id, actor, actor_role, reason, created_at]
  const rows = await runStatement<Moved>(executor, MOVE, [actingText(), ...values, ...event])
  return rows[0]!
}

export type DeploymentChanges = Partial<
  Pick<CloudDeploymentRow, 'display_name' | 'template_code' | 'template_version'>
>

/** Billing actions are held off: by whom, and why; undefined leaves the reason as it is. */
export interface Hold {
  by: string
  reason: string | null | undefined
}

export function updateDeployment(
  executor: Executor,
  scope: Scope,
  id: string,
  changes: DeploymentChanges & { updated_at: string },
  hold: Hold | null | undefined,
): Promise<CloudDeploymentRow | undefined> {
  return executor
    .updateTable('cloud_deployments')
    .set(changes)
    .$if(hold !== undefined, q => q.set(hold ? held(hold, changes.updated_at) : RELEASED))
    .where('id', '=', id)
    .$if(!scope.allTenants, q => q.where('tenant_id', '=', tenantOf(scope)!))
    .returningAll()
    .executeTakeFirst()
}

const RELEASED = {
  billing_action_suspended: false,
  billing_action_suspended_by: null,
  billing_action_suspended_at: null,
  billing_action_suspended_reason: null,
}

/** Who sets it again changes nothing but the reason, where one is given. */
function held({ by, reason }: Hold, at: string) {
  const first = <T>(column: string, value: T) =>
    sql<T>`case when billing_action_suspended then coalesce(${sql.ref(column)}, ${value}) else ${value} end`
  return {
    billing_action_suspended: true,
    billing_action_suspended_by: first('billing_action_suspended_by', by),
    billing_action_suspended_at: first('billing_action_suspended_at', at),
    billing_action_suspended_reason:
      reason === undefined
        ? sql<string | null>`case when billing_action_suspended then billing_action_suspended_reason end`
        : reason,
  }
}

export async function deploymentExists(executor: Executor, id: string): Promise<boolean> {
  const row = await executor
    .selectFrom('cloud_deployments')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

/** Keeps the deployment from moving until the transaction ends. */
export function lockDeployment(
  tx: Executor,
  scope: Scope,
  id: string,
): Promise<CloudDeploymentRow | undefined> {
  return tx
    .selectFrom('cloud_deployments')
    .selectAll()
    .where('id', '=', id)
    .$if(!scope.allTenants, q => q.where('tenant_id', '=', tenantOf(scope)!))
    .forShare()
    .executeTakeFirst()
}

/** The same for whoever must also be alone with it: nobody else holds it, moves it or subscribes it meanwhile. */
export function holdDeployment(tx: Executor, id: string): Promise<CloudDeploymentRow | undefined> {
  return tx
    .selectFrom('cloud_deployments')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
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
  after: string | null,
): Promise<{ id: string; json: string }[]> {
  return listPage(executor, {
    name: 'deployments',
    select: `select d.id, ${DEPLOYMENT_JSON} as json from cloud_deployments d`,
    filters: {
      scope: ['d.tenant_id = ?', tenantOf(scope)],
      state: ['d.state = ?', filter.state],
      region: ['d.region = ?', filter.region],
      slug: ['d.slug = ?', filter.slug],
      tenant_id: ['d.tenant_id = ?', filter.tenant_id],
    },
    orderBy: ['d.id'],
    after: after === null ? null : [after],
    limit,
  })
}
