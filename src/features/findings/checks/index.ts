// All checks, by category.
import type { Check } from '../check.ts'
import { databaseWithoutStandby } from './database-without-standby.ts'
import { deploymentTagOfOtherTenant } from './deployment-tag-of-other-tenant.ts'
import { deploymentTagUnknown } from './deployment-tag-unknown.ts'
import { dropletOff } from './droplet-off.ts'
import { dropletOpenPostgresql } from './droplet-open-postgresql.ts'
import { dropletOpenRedis } from './droplet-open-redis.ts'
import { dropletOpenSsh } from './droplet-open-ssh.ts'
import { dropletWithoutBackups } from './droplet-without-backups.ts'
import { dropletWithoutFirewall } from './droplet-without-firewall.ts'
import { imageOld } from './image-old.ts'
import { invoiceLineWithoutResource } from './invoice-line-without-resource.ts'
import { kubernetesClusterWithoutHa } from './kubernetes-cluster-without-ha.ts'
import { kubernetesClusterWithoutNodes } from './kubernetes-cluster-without-nodes.ts'
import { kubernetesPoolSingleNode } from './kubernetes-pool-single-node.ts'
import { loadBalancerSingleBackend } from './load-balancer-single-backend.ts'
import { loadBalancerWithoutBackend } from './load-balancer-without-backend.ts'
import { reservedIpUnassigned } from './reserved-ip-unassigned.ts'
import { resourceMissing } from './resource-missing.ts'
import { resourceOfEndedDeployment } from './resource-of-ended-deployment.ts'
import { resourceUntagged } from './resource-untagged.ts'
import { resourceWithoutDeployment } from './resource-without-deployment.ts'
import { resourceWithoutTenant } from './resource-without-tenant.ts'
import { resourcesAbovePlan } from './resources-above-plan.ts'
import { sagaLeak } from './saga-leak.ts'
import { sizeAbovePlan } from './size-above-plan.ts'
import { snapshotOld } from './snapshot-old.ts'
import { snapshotOrphaned } from './snapshot-orphaned.ts'
import { sweepFailing } from './sweep-failing.ts'
import { volumeUnattached } from './volume-unattached.ts'

export const CHECKS: readonly Check[] = [
  // Ownership
  resourceWithoutDeployment,
  resourceOfEndedDeployment,
  deploymentTagUnknown,
  deploymentTagOfOtherTenant,
  resourceUntagged,
  resourceWithoutTenant,
  // Security
  dropletWithoutFirewall,
  dropletOpenSsh,
  dropletOpenPostgresql,
  dropletOpenRedis,
  // Resilience
  dropletWithoutBackups,
  databaseWithoutStandby,
  loadBalancerSingleBackend,
  kubernetesClusterWithoutHa,
  kubernetesPoolSingleNode,
  // Waste
  volumeUnattached,
  reservedIpUnassigned,
  dropletOff,
  snapshotOld,
  snapshotOrphaned,
  imageOld,
  loadBalancerWithoutBackend,
  kubernetesClusterWithoutNodes,
  sizeAbovePlan,
  resourcesAbovePlan,
  // Billing
  invoiceLineWithoutResource,
  // Operations
  resourceMissing,
  sagaLeak,
  sweepFailing,
]
