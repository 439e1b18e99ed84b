// The inventory: what other parts of the service may use.
export { inventoryHandlers, sendRefresh } from './jobs.ts'
export { countLiving, type LivingCount, livedWithin } from './lived-within.ts'
export { beginLook, type Look } from './look.ts'
export { projectsOfTenant } from './project-repository.ts'
export { projectRoutes } from './project-routes.ts'
export { type DriftSeen, recordDriftEvents } from './record-drift-events.ts'
export { recordMadeResource } from './record-made-resource.ts'
export {
  ages as inventoryAges,
  livingOfDeployment,
  type TiedResource,
  taggedElsewhere,
} from './repository.ts'
export { resourceSync } from './resource-sync.ts'
export { ownersThen, resourceThenJoin } from './resource-then.ts'
export { inventoryRoutes } from './routes.ts'
export { deploymentOfTags, deploymentTag, type SeenResource, seenResource } from './seen-resource.ts'
export { syncRunRoutes } from './sync-run-routes.ts'
export { PROVIDER } from './tables.ts'
export { findTenantProject, recordTenantProject } from './tenant-project.ts'
export { recordGone, type Sighting } from './write-resources.ts'
export { writeSeen } from './write-seen.ts'
