// The inventory: what other parts of the service may use.
export type { InventoryKernel } from './inventory-kernel.ts'
export { inventoryHandlers, sendRefresh } from './jobs.ts'
export { beginLook, type Look } from './look.ts'
export { projectsOfTenant } from './project-repository.ts'
export { projectRoutes } from './project-routes.ts'
export { type DriftSeen, recordDriftEvents } from './record-drift-events.ts'
export { recordMadeResource } from './record-made-resource.ts'
export {
  ages as inventoryAges,
  countLiving,
  type LivingCount,
  livingOfDeployment,
  type TiedResource,
  taggedElsewhere,
} from './repository.ts'
export { resourceSync } from './resource-sync.ts'
export { livedWithin, ownersThen, resourceThenJoin } from './resource-versions.ts'
export { inventoryRoutes } from './routes.ts'
export { deploymentOfTags, deploymentTag, type SeenResource, seenResource } from './seen-resource.ts'
export { syncRunRoutes } from './sync-run-routes.ts'
export { PROVIDER } from './tables.ts'
export { findTenantProject, recordTenantProject } from './tenant-project.ts'
export { recordGone, type Sighting } from './write-resources.ts'
export { writeSeen } from './write-seen.ts'
