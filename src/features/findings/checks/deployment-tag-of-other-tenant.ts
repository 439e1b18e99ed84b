// Tags that name a deployment of another tenant than the resource's.
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { asId, notTiedByTag, tiesOf, WITH_TAGS } from '../ownership.ts'

export const deploymentTagOfOtherTenant: Check = {
  name: 'deployment_tag_of_other_tenant',
  title: 'Deployment tag of another tenant',
  description:
    'Its tag names a deployment of another tenant than the one whose project it is in: it is tied to nothing, and stops that deployment from being deprovisioned. Correct the tag, or move the resource to the project where it belongs.',
  category: 'ownership',
  severity: 'high',
  forTenants: false,
  cost: 'none',
  query: `
    select ${aboutResource()}, ${heldSince('v.deleted_at is null and v.tags @> t.tags')} as since,
      jsonb_build_object('tag', t.tags[1], 'tagged_deployment_id', d.id, 'tagged_tenant_id', d.tenant_id) as evidence
    from cloud_resources r cross join lateral ${tiesOf()} t
    join cloud_deployments d on d.id = ${asId('t.id')}
    where r.deleted_at is null and r.kind in (${WITH_TAGS}) and ${notTiedByTag()}
      and t.named = 1 and d.tenant_id <> r.tenant_id and ${notBeingMade()}`,
}
