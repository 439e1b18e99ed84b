// SQL of subscriptions.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Month } from '../../kernel/time.ts'
import type { PlanItem } from '../catalog/index.ts'
import type { SubscriptionAddonRow, SubscriptionRow } from './tables.ts'

/** A subscription (s) with its version (v) and plan (p), as JSON text. */
export const SUBSCRIPTION_JSON = `json_build_object(
  'id', s.id, 'deployment_id', s.deployment_id, 'plan_code', p.code, 'plan_version_id', v.id,
  'plan', json_build_object('code', p.code, 'name', p.name),
  'plan_version', json_build_object('id', v.id, 'version', v.version, 'base_price_cents', v.base_price_cents, 'currency', v.currency, 'status', v.status),
  'status', s.status, 'current_period_start', s.current_period_start, 'current_period_end', s.current_period_end,
  'trial_ends_at', iso8601(s.trial_ends_at),
  'addons', (select coalesce(json_agg(json_build_object('code', a.code, 'resource_kind', a.resource_kind, 'qty', a.qty,
      'price_cents', a.price_cents, 'currency', a.currency, 'quantity', a.quantity) order by a.code), '[]')
    from subscription_addons a where a.subscription_id = s.id and a.valid_to is null))::text`

export async function insertSubscription(
  tx: Executor,
  subscription: SubscriptionRow,
  addons: SubscriptionAddonRow[],
): Promise<void> {
  await tx.insertInto('subscriptions').values(subscription).execute()
  if (addons.length > 0) await tx.insertInto('subscription_addons').values(addons).execute()
}

export async function subscriptionJson(
  executor: Executor,
  deploymentId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${sql.raw(SUBSCRIPTION_JSON)} as json from subscriptions s
    join plan_versions v on v.id = s.plan_version_id join plans p on p.id = v.plan_id
    where s.deployment_id = ${deploymentId}`.execute(executor)
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

export async function setPlanVersion(
  tx: Executor,
  id: string,
  planVersionId: string,
  at: string,
): Promise<void> {
  await tx
    .updateTable('subscriptions')
    .set({ plan_version_id: planVersionId, updated_at: at })
    .where('id', '=', id)
    .execute()
}

/** Every period that has ended becomes the current one, however many were missed. */
export async function rollOver(executor: Executor, month: Month, at: string): Promise<number> {
  const result = await executor
    .updateTable('subscriptions')
    .set({ current_period_start: month.first_day, current_period_end: month.last_day, updated_at: at })
    .where('current_period_end', '<', month.first_day)
    .where('status', '!=', 'cancelled')
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}
