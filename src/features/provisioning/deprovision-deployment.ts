// The workflow that takes a deployment's droplets away, in whatever state the deployment is.
import { conflict } from '../../kernel/errors.ts'
import { holdDeployment } from '../deployments/index.ts'
import type { InventoryKernel } from '../inventory/index.ts'
import type { SagaKind } from '../sagas/index.ts'
import { DEPROVISION, PROVISION } from './provision-deployment.ts'
import { refuseWithoutProvider, unknownDeployment } from './refusals.ts'
import { runUnderWay } from './repository.ts'
import { type DeprovisionInputs, DeprovisionRequest } from './schemas.ts'
import { destroyDroplets } from './steps/destroy-droplets.ts'
import { listDroplets } from './steps/list-droplets.ts'
import { recordDeletions } from './steps/record-deletions.ts'

export const deprovisionDeployment = (kernel: InventoryKernel): SagaKind => ({
  kind: DEPROVISION,
  inputs: DeprovisionRequest,

  async prepare(tx, inputs) {
    refuseWithoutProvider(kernel.providers.for('provisioning'))
    const { deployment_id } = inputs as unknown as DeprovisionInputs
    const deployment = await holdDeployment(tx, deployment_id)
    if (!deployment) throw unknownDeployment()
    const coming = await runUnderWay(tx, PROVISION, deployment.id)
    if (coming)
      throw conflict('provisioning_under_way', 'A droplet is being made for the deployment.', {
        extra: { saga_id: coming },
      })
    return { businessKey: deployment.id, deploymentId: deployment.id, tenantId: deployment.tenant_id }
  },

  steps: [listDroplets(kernel), destroyDroplets(kernel), recordDeletions(kernel)],
})
