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
  SubscriptionAddon,
  type SubscriptionAddonRow,
  type SubscriptionRow,
  type SubscriptionStatus,
} from './subscription.ts'
import type { SubscriptionTerms } from './terms.ts'

const SUBSCRIPTIONS = auditedTable('subscriptions', { key: ['id'], silent: ['updated_at'] })
const ADDONS = auditedTable('subscription_addons', { key: ['id'] })

/** SQL: the subscription of a deployment as JSON. */
export const SUBSCRIPTION_OF_DEPLOYMENT = (deploymentId: string): string => `
  select ${jsonOf(Subscription, 's')} from subscriptions s
  join plan_versions v on v.id = s.plan_version_id join plans p on p.id = v.plan_id
  where s.deployment_id = ${deploymentId}`

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

/** Only of deployments that had any terms, or will have, within the stretch; whatever became of the subscription since. */
export async function findTerms(
  executor: Executor,
  deploymentIds: string[],
  { from, to }: { from: string; to: string },
): Promise<SubscriptionTerms[]> {
  const overlaps = (row: string) => sql`${sql.ref(`${row}.valid_from`)} < ${to} and (
    ${sql.ref(`${row}.valid_to`)} is null or ${sql.ref(`${row}.valid_to`)} > greatest(${sql.ref(`${row}.valid_from`)}, ${from}))`
  const { rows } = await sql<SubscriptionTerms>`
    select s.id as subscription_id, s.deployment_id, s.trial_ends_at, t.currency, t.versions,
      (select coalesce(json_agg(${sql.raw(jsonOf(SubscriptionAddon, 'a'))} order by a.code, a.valid_from), '[]')
        from subscription_addons a where a.subscription_id = s.id and ${overlaps('a')}) as addons
    from subscriptions s
    cross join lateral (
      select max(v.currency) as currency, json_agg(json_build_object('plan_code', p.code, 'plan_version_id', v.id,
        'base_price_cents', v.base_price_cents, 'items', ${sql.raw(itemsJson('v'))}, 'valid_from', iso8601(t.valid_from),
        'valid_to', iso8601(t.valid_to)) order by t.valid_from) as versions
      from subscription_terms t
      join plan_versions v on v.id = t.plan_version_id join plans p on p.id = v.plan_id
      where t.subscription_id = s.id and ${overlaps('t')}) t
    where t.versions is not null and s.deployment_id = any(${deploymentIds}::uuid[])`.execute(executor)
  return rows
}
