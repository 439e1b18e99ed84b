// What is left of deployments that were cancelled or archived.
import { isOver, STATES } from '../../deployments/index.ts'
import { beingTakenDown } from '../../provisioning/index.ts'
import { aboutResource, type Check, heldSince, NOW, notBeingMade } from '../check.ts'

const ENDED = STATES.filter(isOver)
  .map(state => `'${state}'`)
  .join(', ')

export const resourceOfEndedDeployment: Check = {
  name: 'resource_of_ended_deployment',
  title: 'Resource of an ended deployment',
  description:
    'Its deployment is cancelled or archived, and it goes on costing money. Deprovision the deployment, or destroy what is left; what is still needed is tied to another.',
  category: 'ownership',
  severity: 'high',
  forTenants: true,
  cost: 'resource',
  // A test clock may be ahead of the service's.
  query: `
    select ${aboutResource()}, least(${NOW}, greatest(
        ${heldSince('v.deleted_at is null and v.deployment_id = r.deployment_id')},
        coalesce((select min(e.created_at) from cloud_deployment_events e
          where e.deployment_id = d.id and e.to_state in (${ENDED})), d.updated_at))) as since,
      jsonb_build_object('deployment', d.slug, 'state', d.state) as evidence
    from cloud_resources r join cloud_deployments d on d.id = r.deployment_id
    where r.deleted_at is null and d.state in (${ENDED}) and ${notBeingMade()} and not ${beingTakenDown('r')}`,
}
