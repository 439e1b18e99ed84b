// Kubernetes clusters with a pool of a single node.

import { few } from '../answers.ts'
import { aboutResource, type Check, heldSince } from '../check.ts'

const POOLS = '$.node_pools[*] ? (@.count == 1)'

export const kubernetesPoolSingleNode: Check = {
  name: 'kubernetes_pool_single_node',
  title: 'Kubernetes pool of a single node',
  description:
    'A node pool of the cluster has one node: when that fails, what runs only there is down until another is made. Give it two.',
  category: 'resilience',
  severity: 'low',
  forTenants: true,
  cost: 'none',
  query: `
    select ${aboutResource()}, ${heldSince(`v.deleted_at is null and jsonb_path_exists(v.attrs, '${POOLS}')`)} as since,
      jsonb_build_object('pools', ${few(`jsonb_path_query_array(r.attrs, '${POOLS}.name')`)}) as evidence
    from cloud_resources r
    where r.kind = 'kubernetes_cluster' and r.deleted_at is null and jsonb_path_exists(r.attrs, '${POOLS}')`,
}
