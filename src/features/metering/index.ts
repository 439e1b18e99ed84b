// Metering: what other parts of the service may use.
import './tables.ts'

export { refuseFinishedMonths } from './finished-months.ts'
export { metering } from './metering.ts'
export { meteringRoutes } from './routes.ts'
