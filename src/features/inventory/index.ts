// The inventory: what other parts of the service may use.

export { recordTenantProject } from './actions.ts'
export { CHANGED_BY } from './explain.ts'
export { followJob, inventoryHandlers, resourceSync, sendRefresh, watchActions } from './jobs.ts'
export { shareOfLooking } from './look-spending.ts'
export { findTenantProject, projectsOfTenant } from './project-store.ts'
export { CLUSTER_TAG } from './relation-store.ts'
export { ActionBehind, isMissing, PROVIDER } from './resource.ts'
export {
  ANY_RESOURCE_THEN,
  type LivedStretch,
  listStretches,
  ownersThen,
  resourceAsThenJoin,
  resourceThenJoin,
  tagsThen,
} from './resource-then.ts'
export { inventoryRoutes, projectRoutes, syncRunRoutes } from './routes.ts'
export { deploymentOfTags, deploymentTag, type SeenResource, seenResource, TIE } from './seen-resource.ts'
export { sizeRoutes } from './size-routes.ts'
export { listSizesThen, sizePriceThen } from './size-store.ts'
export {
  ages as inventoryAges,
  countLiving,
  type LivingCount,
  livedWithin,
  livingOfDeployment,
  type TiedResource,
  taggedElsewhere,
} from './store.ts'
export { SyncRun } from './sync-run.ts'
export { beginLook, type Look, type MirroredKind, mirrorState } from './sync-run-store.ts'
export { sizeSync } from './sync-sizes.ts'
export { type DriftSeen, recordDriftEvents, recordGone, type Sighting } from './write-resources.ts'
export { recordMadeResource, writeSeen } from './write-seen.ts'
