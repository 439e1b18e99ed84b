// Scheduled tasks: what other parts of the service may use.
export { type CleanUp, housekeeping } from './housekeeping.ts'
export { taskHandlers } from './jobs.ts'
export { upsertTasks } from './repository.ts'
export { requestDueRuns, watchSchedule } from './request-due-runs.ts'
export { requestFirstRun } from './request-first-run.ts'
export { scheduledTaskRoutes } from './routes.ts'
export { taskJob } from './task.ts'
