// The workflow that takes a deployment's droplets away, in whatever state the deployment is.
import type { Deps } from '../../deps.ts'
import { conflict } from '../../kernel/errors.ts'
import { lockDeploymentAlone } from '../deployments/index.ts'
import { deploymentTag, taggedElsewhere } from '../inventory/index.ts'
import type { SagaKind } from '../sagas/index.ts'
import { DEPROVISION, PROVISION } from './provision-deployment.ts'
import { refuseWithoutProvider, unknownDeployment } from './refusals.ts'
import { runUnderWay } from './repository.ts'
import { type DeprovisionInputs, DeprovisionRequest } from './schemas.ts'
import { destroyDroplets } from './steps/destroy-droplets.ts'
import { listDroplets } from './steps/list-droplets.ts'
import { recordDeletions } from './steps/record-deletions.ts'
import { verifyOwnership } from './steps/verify-ownership.ts'

const MOST_NAMED = 20

export const deprovisionDeployment = (deps: Deps): SagaKind => ({
  kind: DEPROVISION,
  inputs: DeprovisionRequest,

  async prepare(tx, inputs) {
    refuseWithoutProvider(deps.providers.for('provisioning'))
    const { deployment_id } = inputs as unknown as DeprovisionInputs
    const deployment = await lockDeploymentAlone(tx, deployment_id)
    if (!deployment) throw unknownDeployment()
    const coming = await runUnderWay(tx, PROVISION, deployment.id)
    if (coming)
      throw conflict('provisioning_under_way', 'A droplet is being made for the deployment.', {
        extra: { saga_id: coming },
      })
    const others = await taggedElsewhere(tx, deployment.id, MOST_NAMED)
    if (others.length > 0)
      throw conflict(
        'tag_on_other_resources',
        `By the last sweep, resources that are not the deployment’s carry its tag ${deploymentTag(deployment.id)}. ` +
          'Take the tag away from them, or bring them into the tenant’s project; then sweep.',
        { extra: { resource_ids: others } },
      )
    return { businessKey: deployment.id, deploymentId: deployment.id, tenantId: deployment.tenant_id }
  },

  steps: [listDroplets(deps), verifyOwnership(deps), destroyDroplets(deps), recordDeletions(deps)],
})
