// Browser sessions: what other parts of the service may use.
export { sessionRoutes } from './routes.ts'
