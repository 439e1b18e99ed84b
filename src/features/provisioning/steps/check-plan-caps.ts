// Step: reserves a place in the deployment's plan, if one is left. Two runs at once cannot both take the last one: the
// deployment is locked from the count to the reservation. Undone by releasing the place.
import type { Deps } from '../../../deps.ts'
import { lockDeploymentAlone } from '../../deployments/index.ts'
import type { Step } from '../../sagas/index.ts'
import { findEntitlement } from '../../subscriptions/index.ts'
import { type ProvisionInputs, planFull, planLimit, refusedState } from '../provisioning.ts'
import { countTaken, release, reserve } from '../store.ts'

export const checkPlanCaps = ({ clock, tenantTime }: Pick<Deps, 'clock' | 'tenantTime'>): Step => ({
  name: 'check_plan_caps',

  execute({ sagaId, inputs, transaction }) {
    const { deployment_id } = inputs as unknown as ProvisionInputs
    return transaction(async tx => {
      const deployment = await lockDeploymentAlone(tx, deployment_id)
      if (!deployment) return { ok: false, reason: 'the deployment is gone' }
      // It may have moved since the run was asked for.
      const refused = refusedState(deployment.state)
      if (refused) return { ok: false, reason: refused }
      const place = { saga_id: sagaId, deployment_id, resource_kind: 'droplet' }
      const at = (await tenantTime.of(tx, deployment.tenant_id)).toISOString()
      const limit = planLimit(await findEntitlement(tx, deployment_id, 'droplet', at))
      const taken = await countTaken(tx, place)
      if (limit !== null && taken >= limit) return { ok: false, reason: planFull('droplet', limit, taken) }
      await reserve(tx, { ...place, created_at: clock.now().toISOString() })
      return { ok: true, context: { tenant_id: deployment.tenant_id }, output: { limit, taken } }
    })
  },

  async compensate({ sagaId, transaction }) {
    await transaction(tx => release(tx, sagaId))
    return { ok: true }
  },
})
