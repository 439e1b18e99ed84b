// The overview: what other parts of the service may use.
export { overviewRoutes } from './routes.ts'
