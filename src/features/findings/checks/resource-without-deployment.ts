// What is in a tenant's project and belongs to none of its deployments.

import { CLUSTER_TAG } from '../../inventory/index.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { isDroplet, namedIn } from '../named-droplets.ts'
import { matters } from '../ownership.ts'

/** Looked up in a set that is made once: a join would go through all clusters for each tag. */
const OF_CLUSTER = `starts_with(tag, '${CLUSTER_TAG}') and ((tag, r.tenant_id) in (select c.tag, c.tenant_id from clusters c)) is true`

export const resourceWithoutDeployment: Check = {
  name: 'resource_without_deployment',
  title: 'Resource of a tenant that belongs to no deployment',
  description:
    'It is in a tenant’s project, and neither a tag nor an operator’s word ties it to a deployment: nobody can say what it is for, and it is metered for none. Tag it `deployment:<id>`, assign it, or destroy it.',
  category: 'ownership',
  severity: 'medium',
  forTenants: true,
  cost: 'resource',
  // What a cluster has made belongs to what the cluster belongs to: its nodes and volumes have its tag, its load balancers serve
  // its tag or its nodes.
  query: `
    with clusters as (
      select '${CLUSTER_TAG}' || provider_id as tag, tenant_id from cloud_resources
      where kind = 'kubernetes_cluster' and deleted_at is null and deployment_id is not null
    )
    select ${aboutResource()}, ${heldSince('v.deleted_at is null and v.deployment_id is null')} as since,
      jsonb_build_object('project', p.name, 'project_id', p.id) as evidence
    from cloud_resources r join cloud_projects p on p.id = r.project_id
    where r.deleted_at is null and r.deployment_id is null and ${matters()} and p.purpose = 'tenant'
      and not exists (select from unnest(r.tags || (r.attrs ->> 'tag')) tag where ${OF_CLUSTER})
      and not (r.kind = 'load_balancer' and exists (
        select from ${namedIn('r')} x join cloud_resources d on ${isDroplet('d', 'x.id')} cross join lateral unnest(d.tags) tag
        where ${OF_CLUSTER}))
      and ${notBeingMade()}`,
}
