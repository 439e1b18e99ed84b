// Deployments: what other parts of the service may use.
export { type DeploymentState, LIFECYCLE } from './lifecycle.ts'
export { deploymentRoutes } from './routes.ts'
