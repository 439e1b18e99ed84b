// Step: writes the droplet into the inventory, tied to its deployment, project and tenant, with its desired state, and
// releases the reserved place, in one transaction. Undone by dropping the desired state; the row itself is deleted once the
// droplet is (create_droplet), because until then a sweep would bring it back.
import type { Deps } from '../../../deps.ts'
import { mapItem } from '../../../integrations/digitalocean/index.ts'
import { lockDeploymentAlone } from '../../deployments/index.ts'
import { dropDesiredState, resourcesDesiredBy, writeDesiredState } from '../../drift/index.ts'
import { beginLook, deploymentTag, recordMadeResource } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { desiredSpec, type ProvisionInputs, sagaActor, sagaTag } from '../provisioning.ts'
import { release } from '../store.ts'

export const recordInventory = ({ providers, clock }: Deps): Step => ({
  name: 'record_inventory',
  timeoutMs: 5 * 60_000,

  async execute({ sagaId, inputs, context, signal, transaction }) {
    const request = inputs as unknown as ProvisionInputs
    const dropletId = String(context.droplet_id)
    const look = await transaction(tx => beginLook(tx, clock))
    const raw = await providers.for('provisioning').get('droplet', dropletId, { signal })
    if (!raw) return { ok: false, reason: `the droplet ${dropletId} is gone` }
    const item = mapItem('droplet', raw)
    const tags = [deploymentTag(request.deployment_id), sagaTag(sagaId)]
    const resourceId = await transaction(async tx => {
      // Whoever starts a run with the same name locks it too, and must see either this run or its droplet.
      await lockDeploymentAlone(tx, request.deployment_id)
      const id = await recordMadeResource(tx, { kind: 'droplet', ...look, actor: sagaActor(sagaId) }, item, {
        projectId: String(context.project_id),
        deploymentId: request.deployment_id,
      })
      await writeDesiredState(tx, look.at, { resourceId: id, spec: desiredSpec(request, tags, item), sagaId })
      await release(tx, sagaId)
      return id
    })
    return { ok: true, context: { resource_id: resourceId }, output: { resource_id: resourceId } }
  },

  async compensate({ sagaId, transaction }) {
    const at = clock.now().toISOString()
    await transaction(async tx => {
      for (const id of await resourcesDesiredBy(tx, sagaId)) await dropDesiredState(tx, at, id)
    })
    return { ok: true }
  },
})
