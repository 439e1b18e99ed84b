// Health: what other parts of the service may use.
export { healthRoutes } from './routes.ts'
