// Scheduled tasks: what other parts of the service may use.
export { housekeeping } from './housekeeping.ts'
export { taskHandlers } from './jobs.ts'
export { upsertTasks } from './repository.ts'
export { requestFirstRun } from './request-first-run.ts'
export { scheduledTaskRoutes } from './routes.ts'
export { taskSchedule } from './task.ts'
