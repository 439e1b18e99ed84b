// Usage events: what other parts of the service may use.
export { usageEventRoutes } from './routes.ts'
