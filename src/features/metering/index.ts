// Metering: what other parts of the service may use.
export { backtestRoutes } from './backtest-routes.ts'
export { refuseFinishedMonths } from './finished-months.ts'
export { metering } from './jobs.ts'
export { closeTenantMonth, dueMonths, lockBooks, meterTenant } from './move-tenant.ts'
export { previewMonth } from './preview-month.ts'
export { meteringRoutes } from './routes.ts'
export { statementRoutes } from './statement-routes.ts'
export { openFrom } from './statement-store.ts'
