// Clusters with nothing to run on: the pools are scaled to none, or there are none.

import { CLUSTER_TAG } from '../../inventory/index.ts'
import { countIn } from '../answers.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { TAGS_OF_DROPLETS } from '../named-droplets.ts'

/** Each pool's count says none; a pool that does not say counts as one with nodes. */
const empty = (
  row: string,
) => `case when jsonb_typeof(${row}.attrs -> 'node_pools') = 'array' then not exists (
  select from jsonb_array_elements(case jsonb_typeof(${row}.attrs -> 'node_pools') when 'array' then ${row}.attrs -> 'node_pools' end) pool
  where (pool -> 'count') is distinct from '0') else false end`

export const kubernetesClusterWithoutNodes: Check = {
  name: 'kubernetes_cluster_without_nodes',
  title: 'Kubernetes cluster without nodes',
  description:
    'The cluster has no node to run anything on; a highly available control plane is billed all the same. Give it nodes, or delete it.',
  category: 'waste',
  severity: 'low',
  forTenants: true,
  cost: 'resource',
  query: `
    select ${aboutResource()}, ${heldSince(`${empty('v')} and v.deleted_at is null`)} as since,
      jsonb_build_object('node_pools', ${countIn('node_pools')}, 'nodes', 0,
        'ha', coalesce(r.attrs -> 'ha' = 'true', false)) as evidence
    from cloud_resources r
    where r.kind = 'kubernetes_cluster' and r.deleted_at is null and coalesce(r.status, '') not in ('provisioning', 'deleting') and ${empty('r')}
      and not exists (select from (${TAGS_OF_DROPLETS}) t where t.tag = '${CLUSTER_TAG}' || r.provider_id)
      and ${notBeingMade()}`,
}
