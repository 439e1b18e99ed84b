// Provisioning: what other parts of the service may use.
import type { Deps } from '../../deps.ts'
import type { SagaKind } from '../sagas/index.ts'
import { deprovisionDeployment, provisionDeployment } from './workflows.ts'

export { leakCleanup } from './leaks.ts'
export { LEAK_REASON } from './provisioning.ts'
export { provisioningProblems, provisioningRoutes } from './routes.ts'
export { beingMade, beingTakenDown, LEAKS } from './store.ts'

export const provisioningSagas = (deps: Deps): SagaKind[] => [
  provisionDeployment(deps),
  deprovisionDeployment(deps),
]
