// Resources of a deployment beyond what its plan allows, for which nobody pays: above the cap, or above what is included where
// no price is agreed for more. The newest are the surplus.
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { takenAt } from '../images.ts'
import { addonQuantity, OVERAGE_CENTS, resourceCents, TERMS_NOW } from '../plan-terms.ts'

const SINCE = heldSince('v.deployment_id = r.deployment_id and v.deleted_at is null')

export const resourcesAbovePlan: Check = {
  name: 'resources_above_plan',
  title: 'More resources than the plan allows',
  description:
    'The deployment has more of the kind than its plan allows or has a price for, and this is one of the newest. Delete it, attach an addon, or move the deployment to another plan.',
  category: 'waste',
  severity: 'medium',
  forTenants: true,
  cost: 'resource',
  query: `
    with terms as (${TERMS_NOW}), limits as (
      select t.deployment_id, t.plan_code, t.agreed_at, i.resource_kind, i.included_qty, i.hard_cap_qty, added.qty as addon_qty,
        coalesce(i.hard_cap_qty, case when coalesce(${OVERAGE_CENTS}, ${resourceCents('i.resource_kind', 't.currency')}) is null
          then i.included_qty + added.qty end) as most
      from terms t join plan_items i on i.plan_version_id = t.plan_version_id
      cross join lateral (select ${addonQuantity('t.subscription_id', 'i.resource_kind')} as qty) added
    ), counted as (
      select r.id, l.*, count(*) over (partition by r.deployment_id, r.kind) as living,
        row_number() over (partition by r.deployment_id, r.kind order by ${takenAt()}, r.id) as place
      from limits l join cloud_resources r on r.deployment_id = l.deployment_id and r.kind = l.resource_kind and r.deleted_at is null
      where l.most is not null
    )
    select ${aboutResource()}, greatest(${SINCE}, c.agreed_at) as since,
      jsonb_build_object('kind', r.kind, 'living', c.living, 'allowed', c.most, 'included', c.included_qty, 'addons', c.addon_qty,
        'cap', c.hard_cap_qty, 'plan_code', c.plan_code) as evidence
    from counted c join cloud_resources r on r.id = c.id
    where c.place > c.most and ${notBeingMade()}`,
}
