// Provisioning: what other parts of the service may use.
import './tables.ts'
import type { InventoryKernel } from '../inventory/index.ts'
import type { SagaKind } from '../sagas/index.ts'
import { deprovisionDeployment } from './deprovision-deployment.ts'
import { provisionDeployment } from './provision-deployment.ts'

export { provisioningProblems } from './problems.ts'
export { provisioningRoutes } from './routes.ts'
export { leakCleanup } from './take-down-leaks.ts'

export const provisioningSagas = (kernel: InventoryKernel): SagaKind[] => [
  provisionDeployment(kernel),
  deprovisionDeployment(kernel),
]
