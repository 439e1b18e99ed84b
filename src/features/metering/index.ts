// Metering: what other parts of the service may use.
export { type Charge, chargesOf } from './charges.ts'
export { refuseFinishedMonths } from './finished-months.ts'
export { metering } from './jobs.ts'
export { previewMonth } from './preview-month.ts'
export { meteringRoutes } from './routes.ts'
export { statementRoutes } from './statement-routes.ts'
export { openFrom } from './statement-store.ts'
