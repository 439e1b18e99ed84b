// The workflow that gives a deployment a droplet: what it is started with, and its steps.

import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { AppError, conflict } from '../../kernel/errors.ts'
import { lockDeploymentAlone } from '../deployments/index.ts'
import { livingOfDeployment } from '../inventory/index.ts'
import type { SagaKind } from '../sagas/index.ts'
import { defaultDropletName } from './droplet-name.ts'
import { refusedState } from './provisionable.ts'
import { refuseWithoutProvider, unknownDeployment } from './refusals.ts'
import { runUnderKey, runUnderWay } from './repository.ts'
import { type ProvisionInputs, ProvisionRequest } from './schemas.ts'
import { assignToProject } from './steps/assign-to-project.ts'
import { checkPlanCaps } from './steps/check-plan-caps.ts'
import { createDroplet } from './steps/create-droplet.ts'
import { ensureProject } from './steps/ensure-project.ts'
import { recordInventory } from './steps/record-inventory.ts'
import { waitUntilActive } from './steps/wait-until-active.ts'

export const PROVISION = 'provision_deployment'
export const DEPROVISION = 'deprovision_deployment'

type Order = Omit<ProvisionInputs, 'region' | 'name'> & Partial<ProvisionInputs>

export const provisionDeployment = (deps: Deps): SagaKind => ({
  kind: PROVISION,
  inputs: ProvisionRequest,

  async prepare(tx, inputs) {
    refuseWithoutProvider(deps.providers.for('provisioning'))
    const order = inputs as unknown as Order
    // Held until the run is there: no deprovisioning can begin meanwhile.
    const deployment = await lockDeploymentAlone(tx, order.deployment_id)
    if (!deployment) throw unknownDeployment()
    const refused = refusedState(deployment.state)
    if (refused) throw new AppError('invalid', 'deployment_not_provisionable', sentence(refused))
    const leaving = await runUnderWay(tx, DEPROVISION, deployment.id)
    if (leaving)
      throw conflict('deprovisioning_under_way', 'The deployment is being deprovisioned.', {
        extra: { saga_id: leaving },
      })
    const businessKey = order.name ? `${deployment.id}:${order.name.toLowerCase()}` : deployment.id
    if (order.name) await refuseTakenName(tx, deployment.id, order.name, businessKey)
    return {
      businessKey,
      deploymentId: deployment.id,
      tenantId: deployment.tenant_id,
      inputs: {
        ...order,
        region: order.region ?? deployment.region,
        name: order.name ?? defaultDropletName(deployment.slug),
      },
    }
  },

  steps: [
    checkPlanCaps(deps),
    ensureProject(deps),
    createDroplet(deps),
    waitUntilActive(deps),
    assignToProject(deps),
    recordInventory(deps),
  ],
})

/** Unless it is the name of the run that is under way, and is about to be answered with. */
async function refuseTakenName(
  tx: Executor,
  deploymentId: string,
  name: string,
  businessKey: string,
): Promise<void> {
  if (await runUnderKey(tx, PROVISION, businessKey)) return
  const living = await livingOfDeployment(tx, 'droplet', deploymentId)
  if (living.some(droplet => droplet.name.toLowerCase() === name.toLowerCase()))
    throw conflict('name_taken', 'A droplet of this deployment has that name already.')
}

const sentence = (reason: string) => `${reason[0]!.toUpperCase()}${reason.slice(1)}.`
