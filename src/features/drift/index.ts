// Drift: what other parts of the service may use.
export { type DesiredState, dropDesiredState, writeDesiredState } from './actions.ts'
export { driftDetection, driftOfChanged } from './detect-drift.ts'
export { driftRoutes } from './routes.ts'
export { countOpen as countOpenDrift, openByField, resourceMembers, resourcesDesiredBy } from './store.ts'
