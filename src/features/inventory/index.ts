// The inventory: what other parts of the service may use.
export type { InventoryKernel } from './inventory-kernel.ts'
export { inventoryHandlers } from './jobs.ts'
export { projectRoutes } from './project-routes.ts'
export { resourceSync } from './resource-sync.ts'
export { inventoryRoutes } from './routes.ts'
export { type SeenResource, seenResource } from './seen-resource.ts'
export { syncRunRoutes } from './sync-run-routes.ts'
export { type Sighting, writeSeen } from './write-resources.ts'
