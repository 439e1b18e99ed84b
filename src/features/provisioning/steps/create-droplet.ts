// Step: the droplet, tagged with its deployment and this saga, and sent to the provider at most once. Undone by destroying
// whatever carries the saga's tag and looking until nothing does; the inventory learns of it at once, so that what is gone
// takes no place in the plan.
import { isGpuSize, ProviderError } from '../../../integrations/digitalocean/index.ts'
import { beginLook, deploymentTag, type InventoryKernel, sendRefresh } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { recordDestroyed } from '../record-destroyed.ts'
import type { ProvisionInputs } from '../schemas.ts'
import { sagaTag } from '../tags.ts'

export const createDroplet = (kernel: InventoryKernel): Step => ({
  name: 'create_droplet',
  timeoutMs: 10 * 60_000,

  async execute({ sagaId, inputs, signal, log }) {
    const { deployment_id, name, region, size, image } = inputs as unknown as ProvisionInputs
    const tag = sagaTag(sagaId)
    const tags = [deploymentTag(deployment_id), tag]
    try {
      const made = await kernel.providers
        .for('provisioning')
        .createDropletOnce({ name, region, size, image, tags }, tag, {
          signal,
        })
      const ids = { droplet_id: made.dropletId, action_id: made.actionId }
      // Shown while it boots; the run does not depend on it.
      await sendRefresh(kernel, 'droplet', made.dropletId).catch(err =>
        log.warn({ err }, 'the droplet will not be refreshed'),
      )
      return { ok: true, context: ids, output: ids }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      return { ok: false, reason: error.message, unknown: error.mayHaveHappened }
    }
  },

  async compensate({ sagaId, inputs, context, signal, transaction }) {
    const { size } = inputs as unknown as ProvisionInputs
    const tag = sagaTag(sagaId)
    const known = typeof context.droplet_id === 'string' ? [context.droplet_id] : []
    const look = await transaction(tx => beginLook(tx, kernel.clock))
    const droplets = await kernel.providers
      .for('provisioning')
      .destroyDroplets(
        { tag, dropletIds: known, gpus: isGpuSize(size), unsure: known.length === 0 },
        { signal },
      )
    const destroyed = { providerIds: known, tag, seen: { droplets, look } }
    await transaction(tx => recordDestroyed(tx, kernel, sagaId, destroyed))
    return { ok: true }
  },
})
