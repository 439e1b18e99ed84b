// Billing: what other parts of the service may use.

export { billingHistory } from './billing-history.ts'
export { financePush } from './finance-push.ts'
export { billingHandlers } from './jobs.ts'
export { pushHandlers } from './push-job.ts'
export { countToPush } from './push-repository.ts'
export { recordBalance } from './record-balance.ts'
export { requestMissingPushes } from './request-push.ts'
export { billingRoutes } from './routes.ts'
