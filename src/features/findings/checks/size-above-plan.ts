// Droplets that alone cost more than their deployment's whole subscription brings in. A plan counts droplets and names no sizes, so
// the yardstick is money: the base price, the addons, and what is charged for droplets beyond those that are included.
import { textIn } from '../answers.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { addonCents, addonQuantity, OVERAGE_CENTS, resourceCents, TERMS_NOW } from '../plan-terms.ts'

const SINCE = heldSince(`v.attrs -> 'size_slug' = r.attrs -> 'size_slug' and v.deployment_id = r.deployment_id
  and v.deleted_at is null`)

export const sizeAbovePlan: Check = {
  name: 'size_above_plan',
  title: 'Droplet larger than its plan pays for',
  description:
    'By list price the droplet alone costs more a month than the subscription of its deployment brings in; the cost is what it costs more. Resize it, or move the deployment to a plan that pays for it.',
  category: 'waste',
  severity: 'high',
  forTenants: false,
  cost: 'own',
  query: `
    with terms as (${TERMS_NOW}), income as (
      select t.*, i.included_qty, t.base_price_cents + ${addonCents('t.subscription_id')}
        + greatest(living.droplets - coalesce(i.included_qty, 0) - ${addonQuantity('t.subscription_id', `'droplet'`)}, 0)
        * coalesce(${OVERAGE_CENTS}, ${resourceCents(`'droplet'`, 't.currency')}, 0) as cents
      from terms t
      left join plan_items i on i.plan_version_id = t.plan_version_id and i.resource_kind = 'droplet'
      join (select deployment_id, count(*) as droplets from cloud_resources
        where kind = 'droplet' and deleted_at is null and deployment_id is not null group by deployment_id) living
        on living.deployment_id = t.deployment_id
    )
    select ${aboutResource()}, greatest(${SINCE}, t.agreed_at) as since,
      price.price_monthly - t.cents / 100 as monthly_cost, price.currency, 'list_price' as cost_source,
      jsonb_build_object('size_slug', ${textIn('size_slug')}, 'list_price_monthly', price.price_monthly::text, 'plan_code', t.plan_code,
        'subscription_monthly_cents', t.cents, 'currency', t.currency) as evidence
    from income t join cloud_resources r on r.deployment_id = t.deployment_id and r.kind = 'droplet' and r.deleted_at is null
    join cloud_size_prices price on price.provider = r.provider and price.slug = r.attrs ->> 'size_slug' and price.valid_to is null
      and price.currency = t.currency
    where t.cents > 0 and price.price_monthly > t.cents / 100 and ${notBeingMade()}`,
}
