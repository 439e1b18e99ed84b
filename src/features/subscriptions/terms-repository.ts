// SQL of what subscriptions cost and include: for many deployments in one statement.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { ITEMS_JSON, type PlanItem } from '../catalog/index.ts'
import type { SubscriptionAddonRow } from './tables.ts'

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
      ${sql.raw(ITEMS_JSON)} as items,
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
