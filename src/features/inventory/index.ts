// The inventory: what other parts of the service may use.

export { recordTenantProject } from './actions.ts'
export type { InventoryKernel } from './inventory-kernel.ts'
export { inventoryHandlers, resourceSync, sendRefresh } from './jobs.ts'
export { projectRoutes } from './project-routes.ts'
export { findTenantProject, projectsOfTenant } from './project-store.ts'
export { inventoryRoutes } from './routes.ts'
export { deploymentOfTags, deploymentTag, type SeenResource, seenResource } from './seen-resource.ts'
export {
  ages as inventoryAges,
  countLiving,
  type LivingCount,
  livedWithin,
  livingOfDeployment,
  ownersThen,
  resourceThenJoin,
  type TiedResource,
  taggedElsewhere,
} from './store.ts'
export { syncRunRoutes } from './sync-run-routes.ts'
export { beginLook, type Look } from './sync-run-store.ts'
export { PROVIDER } from './tables.ts'
export { type DriftSeen, recordDriftEvents, recordGone, type Sighting } from './write-resources.ts'
export { recordMadeResource, writeSeen } from './write-seen.ts'
