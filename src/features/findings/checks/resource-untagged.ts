// What an operator has tied to a deployment and a tag could.
import { TIE } from '../../inventory/index.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { TIED_BY_TAGS } from '../ownership.ts'

export const resourceUntagged: Check = {
  name: 'resource_untagged',
  title: 'Resource of a deployment without its tag',
  description:
    'An operator has assigned it to its deployment, but it does not have the tag `deployment:<id>`: nobody sees at the provider whose it is, and when it changes hands the assignment is gone. Tag it.',
  category: 'ownership',
  severity: 'low',
  forTenants: true,
  cost: 'none',
  // Where the provider does not tell tags the tie is a saga's, and not assigned.
  query: `
    select ${aboutResource()}, ${heldSince('v.deleted_at is null and v.deployment_id = r.deployment_id')} as since,
      jsonb_build_object('missing_tag', '${TIE}' || r.deployment_id) as evidence
    from cloud_resources r
    where r.deleted_at is null and r.kind in (${TIED_BY_TAGS}) and r.assigned_deployment_id = r.deployment_id and ${notBeingMade()}`,
}
