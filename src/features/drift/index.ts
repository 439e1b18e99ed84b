// Drift: what other parts of the service may use.
export { driftDetection } from './drift-detection.ts'
export { countOpen as countOpenDrift, resourceMembers } from './repository.ts'
export { driftRoutes } from './routes.ts'
export { type DesiredState, dropDesiredState, writeDesiredState } from './write-desired-state.ts'
