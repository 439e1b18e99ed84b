// Billing: what other parts of the service may use.
export type { FinanceKernel } from './finance-kernel.ts'
export { financePush } from './finance-push.ts'
export { focusRoutes } from './focus-routes.ts'
export { pushHandlers } from './push-job.ts'
export { countToPush } from './push-repository.ts'
export { requestMissingPushes } from './request-push.ts'
export { summaryRoutes } from './summary-routes.ts'
