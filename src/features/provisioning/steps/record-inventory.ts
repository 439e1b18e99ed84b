// Step: the droplet enters the inventory, tied to its deployment, project and tenant, with what is desired of it, and the
// place that was kept for it in the plan becomes its own: one transaction. Undone by dropping the desired state; the row
// itself is deleted once the droplet is (create_droplet), for until then a sweep would only bring it back.
import type { Deps } from '../../../deps.ts'
import { mapItem } from '../../../integrations/digitalocean/index.ts'
import { lockDeploymentAlone } from '../../deployments/index.ts'
import { dropDesiredState, writeDesiredState } from '../../drift/index.ts'
import { beginLook, deploymentTag, recordMadeResource } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { desiredSpec } from '../desired-spec.ts'
import { ownedBy, release } from '../repository.ts'
import type { ProvisionInputs } from '../schemas.ts'
import { sagaActor, sagaTag } from '../tags.ts'

export const recordInventory = ({ providers, clock }: Deps): Step => ({
  name: 'record_inventory',
  timeoutMs: 5 * 60_000,

  async execute({ sagaId, inputs, context, signal, transaction }) {
    const order = inputs as unknown as ProvisionInputs
    const dropletId = String(context.droplet_id)
    const look = await transaction(tx => beginLook(tx, clock))
    const raw = await providers.for('provisioning').get('droplet', dropletId, { signal })
    if (!raw) return { ok: false, reason: `the droplet ${dropletId} is gone` }
    const item = mapItem('droplet', raw)
    const tags = [deploymentTag(order.deployment_id), sagaTag(sagaId)]
    const resourceId = await transaction(async tx => {
      // Whoever starts a run with the same name holds it too, and must see either this run or its droplet.
      await lockDeploymentAlone(tx, order.deployment_id)
      const id = await recordMadeResource(tx, { kind: 'droplet', ...look, actor: sagaActor(sagaId) }, item, {
        projectId: String(context.project_id),
        deploymentId: order.deployment_id,
      })
      await writeDesiredState(tx, look.at, { resourceId: id, spec: desiredSpec(order, tags, item), sagaId })
      await release(tx, sagaId)
      return id
    })
    return { ok: true, context: { resource_id: resourceId }, output: { resource_id: resourceId } }
  },

  async compensate({ sagaId, transaction }) {
    const at = clock.now().toISOString()
    await transaction(async tx => {
      for (const id of await ownedBy(tx, sagaId)) await dropDesiredState(tx, at, id)
    })
    return { ok: true }
  },
})
