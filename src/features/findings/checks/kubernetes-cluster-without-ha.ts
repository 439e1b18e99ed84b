// Kubernetes clusters whose control plane is a single one.
import { aboutResource, type Check, heldSince } from '../check.ts'

const SINGLE = (row: string) => `${row}.attrs -> 'ha' = 'false'`

export const kubernetesClusterWithoutHa: Check = {
  name: 'kubernetes_cluster_without_ha',
  title: 'Kubernetes cluster without a highly available control plane',
  description:
    'The control plane is not highly available: while it is away the workloads go on, but nothing is scheduled or repaired. It can be switched on, for a price.',
  category: 'resilience',
  severity: 'low',
  forTenants: true,
  cost: 'none',
  query: `
    select ${aboutResource()}, ${heldSince(`v.deleted_at is null and ${SINGLE('v')}`)} as since, jsonb_build_object('ha', false, 'version', r.attrs -> 'version') as evidence
    from cloud_resources r where r.kind = 'kubernetes_cluster' and r.deleted_at is null and ${SINGLE('r')}`,
}
