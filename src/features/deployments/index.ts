// Deployments: what other parts of the service may use.
export { type BilledDeployment, firstMadeAt, listBilled } from './billed-repository.ts'
export { type DeploymentState, LIFECYCLE } from './lifecycle.ts'
export { deploymentExists, holdDeployment } from './repository.ts'
export { deploymentRoutes } from './routes.ts'
export type { CloudDeploymentRow } from './tables.ts'
