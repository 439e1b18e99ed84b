// The two workflows: one gives a deployment a droplet, the other takes its droplets away.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { AppError, conflict, invalid, unavailable } from '../../kernel/errors.ts'
import { type CloudDeploymentRow, lockDeploymentAlone } from '../deployments/index.ts'
import { deploymentTag, livingOfDeployment, taggedElsewhere } from '../inventory/index.ts'
import type { Json, SagaKind } from '../sagas/index.ts'
import {
  DEPROVISION,
  DeprovisionRequest,
  defaultDropletName,
  PROVISION,
  type ProvisionInputs,
  ProvisionRequest,
  refusedState,
} from './provisioning.ts'
import { assignToProject } from './steps/assign-to-project.ts'
import { checkPlanCaps } from './steps/check-plan-caps.ts'
import { createDroplet } from './steps/create-droplet.ts'
import { destroyDroplets } from './steps/destroy-droplets.ts'
import { ensureProject } from './steps/ensure-project.ts'
import { listDroplets } from './steps/list-droplets.ts'
import { recordDeletions } from './steps/record-deletions.ts'
import { recordInventory } from './steps/record-inventory.ts'
import { verifyOwnership } from './steps/verify-ownership.ts'
import { waitUntilActive } from './steps/wait-until-active.ts'
import { runUnderWay } from './store.ts'

/** How many resources with a foreign tag a problem names. */
const MOST_NAMED = 20

type Requested = Omit<ProvisionInputs, 'region' | 'name'> & Partial<ProvisionInputs>

export const provisionDeployment = (deps: Deps): SagaKind => ({
  kind: PROVISION,
  inputs: ProvisionRequest,

  async prepare(tx, inputs) {
    const request = inputs as unknown as Requested
    const deployment = await lockForRun(deps, tx, inputs)
    const refused = refusedState(deployment.state)
    if (refused) throw new AppError('invalid', 'deployment_not_provisionable', sentence(refused))
    const leaving = await runUnderWay(tx, DEPROVISION, { deployment_id: deployment.id })
    if (leaving)
      throw conflict('deprovisioning_under_way', 'The deployment is being deprovisioned.', {
        extra: { saga_id: leaving },
      })
    const businessKey = request.name ? `${deployment.id}:${request.name.toLowerCase()}` : deployment.id
    if (request.name) await refuseTakenName(tx, deployment.id, request.name, businessKey)
    return {
      businessKey,
      deploymentId: deployment.id,
      tenantId: deployment.tenant_id,
      inputs: {
        ...request,
        region: request.region ?? deployment.region,
        name: request.name ?? defaultDropletName(deployment.slug),
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

/** In whatever state the deployment is. */
export const deprovisionDeployment = (deps: Deps): SagaKind => ({
  kind: DEPROVISION,
  inputs: DeprovisionRequest,

  async prepare(tx, inputs) {
    const deployment = await lockForRun(deps, tx, inputs)
    const coming = await runUnderWay(tx, PROVISION, { deployment_id: deployment.id })
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

/** Locked until the run is there, so that the opposite run cannot begin meanwhile. */
async function lockForRun(deps: Deps, tx: Executor, { deployment_id }: Json): Promise<CloudDeploymentRow> {
  const { absent } = deps.providers.for('provisioning')
  if (absent) throw unavailable(`Nothing can be provisioned: ${absent}.`)
  const deployment = await lockDeploymentAlone(tx, String(deployment_id))
  if (deployment) return deployment
  throw invalid('The inputs are not acceptable.', [
    { pointer: '/inputs/deployment_id', message: 'is not the id of a deployment' },
  ])
}

/** The name of a run that is under way is not refused: that run is the response. */
async function refuseTakenName(
  tx: Executor,
  deploymentId: string,
  name: string,
  businessKey: string,
): Promise<void> {
  if (await runUnderWay(tx, PROVISION, { business_key: businessKey })) return
  const living = await livingOfDeployment(tx, 'droplet', deploymentId)
  if (living.some(droplet => droplet.name.toLowerCase() === name.toLowerCase()))
    throw conflict('name_taken', 'A droplet of this deployment has that name already.')
}

const sentence = (reason: string) => `${reason[0]!.toUpperCase()}${reason.slice(1)}.`
