// All SQL of subscriptions, of the terms they had and have, and of their addons.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { newId } from '../../kernel/ids.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { itemsJson, type PlanItem } from '../catalog/index.ts'
import {
  Subscription,
  type SubscriptionAddonRow,
  type SubscriptionRow,
  type SubscriptionStatus,
} from './subscription.ts'

const SUBSCRIPTIONS = auditedTable('subscriptions', { key: ['id'], silent: ['updated_at'] })
const ADDONS = auditedTable('subscription_addons', { key: ['id'] })

/** SQL: the subscription of a deployment as JSON. */
export const SUBSCRIPTION_OF_DEPLOYMENT = (deploymentId: string): string => `
  select ${jsonOf(Subscription, 's')} from subscriptions s
  join plan_versions v on v.id = s.plan_version_id join plans p on p.id = v.plan_id
  where s.deployment_id = ${deploymentId}`

/** SQL, for plan_versions `v`: what a version is shown with. */
export const versionMembers = {
  subscriptions: `(select count(*)::int from subscriptions s where s.plan_version_id = v.id and s.status <> 'cancelled')`,
}

export async function insertSubscription(
  tx: Executor,
  subscription: SubscriptionRow,
  addons: SubscriptionAddonRow[],
): Promise<void> {
  await SUBSCRIPTIONS.insert(tx, [subscription])
  await beginTerms(tx, subscription, subscription.created_at)
  await ADDONS.insert(tx, addons)
}

/** The subscription as JSON text. */
export async function subscriptionJson(
  executor: Executor,
  deploymentId: string,
): Promise<string | undefined> {
  const text = `select json::text as json from (${SUBSCRIPTION_OF_DEPLOYMENT('$1::uuid')}) as s (json)`
  const rows = await runStatement<{ json: string }>(executor, { name: 'subscription_show', text }, [
    deploymentId,
  ])
  return rows[0]?.json
}

export interface Entitlement {
  /** What the plan version says of the kind; null: nothing. */
  item: PlanItem | null
  /** What the addons of the kind add. */
  addon_qty: number
}

/** What the deployment's subscription gives it of a kind; undefined without a subscription. */
export async function findEntitlement(
  executor: Executor,
  deploymentId: string,
  resourceKind: string,
): Promise<Entitlement | undefined> {
  const { rows } = await sql<Entitlement>`
    select case when i.resource_kind is not null then to_json(i) end as item,
      (select coalesce(sum(a.qty * a.quantity), 0)::bigint from subscription_addons a
       where a.subscription_id = s.id and a.valid_to is null and a.resource_kind = ${resourceKind}) as addon_qty
    from subscriptions s
    left join plan_items i on i.plan_version_id = s.plan_version_id and i.resource_kind = ${resourceKind}
    where s.deployment_id = ${deploymentId}`.execute(executor)
  return rows[0]
}

export function lockSubscription(tx: Executor, deploymentId: string): Promise<SubscriptionRow | undefined> {
  return tx
    .selectFrom('subscriptions')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .forUpdate()
    .executeTakeFirst()
}

export async function addonCurrencies(tx: Executor, subscriptionId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('subscription_addons')
    .select('currency')
    .distinct()
    .where('subscription_id', '=', subscriptionId)
    .where('valid_to', 'is', null)
    .execute()
  return rows.map(row => row.currency)
}

/** From `at` on the subscription has the other version's terms. */
export async function setPlanVersion(
  tx: Executor,
  id: string,
  planVersionId: string,
  at: string,
): Promise<void> {
  const [changed] = await SUBSCRIPTIONS.update(tx, { id }, { plan_version_id: planVersionId, updated_at: at })
  await beginTerms(tx, changed!, await endTerms(tx, id, at))
}

// Prepared, because every move of a deployment runs it.
const SET_STATUS = {
  name: 'subscription_set_status',
  text: `with was as (
      select id, status from subscriptions
      where deployment_id = $1::uuid and status not in ('cancelled', $2) for no key update
    )
    update subscriptions s set status = $2, updated_at = $3 from was where s.id = was.id
    returning s.id, was.status as was`,
}

/** A subscription that is cancelled stays so, and its terms end. */
export async function setStatus(
  tx: Executor,
  deploymentId: string,
  status: SubscriptionStatus,
  at: string,
): Promise<void> {
  const values = [deploymentId, status, at]
  const [set] = await runStatement<{ id: string; was: SubscriptionStatus }>(tx, SET_STATUS, values)
  if (!set) return
  SUBSCRIPTIONS.recordChange(tx, { id: set.id, status: set.was }, { id: set.id, status })
  if (status === 'cancelled') await endTerms(tx, set.id, at)
}

const beginTerms = (tx: Executor, { id, plan_version_id }: SubscriptionRow, valid_from: string) =>
  tx
    .insertInto('subscription_terms')
    .values({ id: newId(), subscription_id: id, plan_version_id, valid_from, valid_to: null })
    .execute()

/** When they ended: a clock that is a little behind does not reach back before their beginning. */
async function endTerms(tx: Executor, subscriptionId: string, at: string): Promise<string> {
  const ended = await tx
    .updateTable('subscription_terms')
    .set({ valid_to: sql`greatest(valid_from, ${at})` })
    .where('subscription_id', '=', subscriptionId)
    .where('valid_to', 'is', null)
    .returning('valid_to')
    .executeTakeFirst()
  return ended?.valid_to ?? at
}

export interface Period {
  current_period_start: string
  current_period_end: string
}

/** Every period that has ended becomes the current one, however many were missed. */
export async function rollOver(executor: Executor, period: Period, at: string): Promise<number> {
  const moved = await SUBSCRIPTIONS.update(
    executor,
    query =>
      query.where('current_period_end', '<', period.current_period_start).where('status', '!=', 'cancelled'),
    { ...period, updated_at: at },
  )
  return moved.length
}

export interface SubscriptionTerms {
  deployment_id: string
  plan_code: string
  plan_version_id: string
  base_price_cents: number
  currency: string
  trial_ends_at: string | null
  items: PlanItem[]
  addons: Pick<SubscriptionAddonRow, 'code' | 'resource_kind' | 'qty' | 'price_cents' | 'quantity'>[]
}

/** A stretch of time: from its beginning to its last moment. */
export interface Stretch {
  from: string
  last: string
}

/**
 * The terms that held last within the stretch, with the addons of its last moment, whatever became of the subscription
 * since. Only of deployments that had any.
 */
export async function findTerms(
  executor: Executor,
  deploymentIds: string[],
  { from, last }: Stretch,
): Promise<SubscriptionTerms[]> {
  const { rows } = await sql<SubscriptionTerms>`
    select s.deployment_id, p.code as plan_code, v.id as plan_version_id, v.base_price_cents, v.currency, s.trial_ends_at,
      ${sql.raw(itemsJson('v'))} as items,
      (select coalesce(json_agg(json_build_object('code', a.code, 'resource_kind', a.resource_kind, 'qty', a.qty,
          'price_cents', a.price_cents, 'quantity', a.quantity) order by a.code), '[]')
        from subscription_addons a where a.subscription_id = s.id
          and a.valid_from <= ${last} and (a.valid_to is null or a.valid_to > ${last})) as addons
    from subscriptions s
    cross join lateral (
      select t.plan_version_id from subscription_terms t
      where t.subscription_id = s.id and t.valid_from <= ${last}
        and (t.valid_to is null or t.valid_to > greatest(t.valid_from, ${from}))
      order by t.valid_from desc limit 1) t
    join plan_versions v on v.id = t.plan_version_id
    join plans p on p.id = v.plan_id
    where s.deployment_id = any(${deploymentIds}::uuid[])`.execute(executor)
  return rows
}
