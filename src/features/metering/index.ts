// Metering: what other parts of the service may use.
export { metering } from './metering.ts'
export { meteringRoutes } from './routes.ts'
