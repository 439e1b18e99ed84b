// Tags that should tie a resource to a deployment and name none, or several.
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { asId, notTiedByTag, tiesOf, WITH_TAGS } from '../ownership.ts'

export const deploymentTagUnknown: Check = {
  name: 'deployment_tag_unknown',
  title: 'Deployment tag that names no deployment',
  description:
    'A tag `deployment:<id>` of the resource is not an id, names a deployment that does not exist, or contradicts another: it ties the resource to nothing. Correct the tag at the provider.',
  category: 'ownership',
  severity: 'medium',
  // Whoever may tag could ask for any id by it whether it exists.
  forTenants: false,
  cost: 'none',
  query: `
    select ${aboutResource()}, ${heldSince('v.deleted_at is null and v.tags @> t.tags')} as since, jsonb_build_object(
        'reason', case when t.named > 1 then 'several' when ${asId('t.id')} is null then 'malformed' else 'unknown' end,
        'tags', to_jsonb(t.tags[:10])) as evidence
    from cloud_resources r cross join lateral ${tiesOf()} t
    left join cloud_deployments d on d.id = ${asId('t.id')}
    where r.deleted_at is null and r.kind in (${WITH_TAGS}) and ${notTiedByTag()}
      and (t.named > 1 or t.named = 1 and d.id is null) and ${notBeingMade()}`,
}
