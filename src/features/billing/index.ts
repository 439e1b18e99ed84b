// Billing: what other parts of the service may use.

export { costEstimate } from './estimate-costs.ts'
export { countToPush, countTroubledInvoices } from './invoice-store.ts'
export { billingHandlers, billingHistory, financePush, recordBalance } from './jobs.ts'
export { requestMissingPushes } from './push-invoice.ts'
export { LIST_CURRENCY, minorOf, monthlyCostJoin, roundedOf, wholeMonthOf } from './resource-cost.ts'
export { billingRoutes } from './routes.ts'
