// Billing: what other parts of the service may use.
export { billingHistory } from './billing-history.ts'
export type { BillingKernel } from './billing-kernel.ts'
export { billingHandlers } from './jobs.ts'
export { recordBalance } from './record-balance.ts'
export { billingRoutes } from './routes.ts'
