// Scheduled tasks: what other parts of the service may use.
export { requestFirstRun, requestRun } from './actions.ts'
export { type CleanUp, housekeeping, requestDueRuns, taskHandlers, watchSchedule } from './jobs.ts'
export { scheduledTaskRoutes } from './routes.ts'
export { countTroubledTasks, noteResult, upsertTasks } from './store.ts'
export { taskJob } from './task.ts'
