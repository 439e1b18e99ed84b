// Findings: what other parts of the service may use.
export { countByCheck as countFindings } from './actions.ts'
export type { Policy } from './check.ts'
export { findingsAfterSweep, findingsTask, forgetClosedFindings } from './jobs.ts'
export { findingRoutes } from './routes.ts'
