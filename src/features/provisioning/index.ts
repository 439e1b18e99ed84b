// Provisioning: what other parts of the service may use.
import type { Deps } from '../../deps.ts'
import './tables.ts'
import type { SagaKind } from '../sagas/index.ts'
import { deprovisionDeployment } from './deprovision-deployment.ts'
import { provisionDeployment } from './provision-deployment.ts'

export { provisioningProblems } from './problems.ts'
export { provisioningRoutes } from './routes.ts'
export { leakCleanup } from './take-down-leaks.ts'

export const provisioningSagas = (deps: Deps): SagaKind[] => [
  provisionDeployment(deps),
  deprovisionDeployment(deps),
]
