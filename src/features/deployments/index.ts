// Deployments: what other parts of the service may use.
export type { CloudDeploymentRow } from './deployment.ts'
export { type DeploymentState, isOver, LIFECYCLE, STATES } from './lifecycle.ts'
export { deploymentRoutes } from './routes.ts'
export {
  type BilledDeployment,
  deploymentExists,
  findDeployment,
  findNamed,
  firstMadeAt,
  firstMadeOf,
  listBilled,
  lockDeploymentAlone,
} from './store.ts'
export { subscriptionRoutes } from './subscription-routes.ts'
