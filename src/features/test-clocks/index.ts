// Test clocks: what other parts of the service may use.
export { endAllClocks } from './actions.ts'
export { advanceJob, testClockHandlers } from './jobs.ts'
export { testClockRoutes } from './routes.ts'
export { timeByClocks } from './time-by-clocks.ts'
