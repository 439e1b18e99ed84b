// Step: creates the droplet, tagged with its deployment and this saga; the request is sent at most once. Undone by destroying
// whatever has the saga's tag, unless it is known to be another tenant's, and polling until nothing has it; the inventory is
// updated at once, so that what is gone takes no place in the plan.
import type { Deps } from '../../../deps.ts'
import { idText, isGpuSize, ProviderError } from '../../../integrations/digitalocean/index.ts'
import { beginLook, deploymentTag, sendRefresh } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { type ProvisionInputs, sagaTag } from '../provisioning.ts'
import { dropletsOfOthers } from '../store.ts'
import { recordDestroyed } from './record-deletions.ts'

export const createDroplet = (deps: Deps): Step => ({
  name: 'create_droplet',
  timeoutMs: 10 * 60_000,

  async execute({ sagaId, inputs, signal, log }) {
    const { deployment_id, name, region, size, image } = inputs as unknown as ProvisionInputs
    const tag = sagaTag(sagaId)
    const tags = [deploymentTag(deployment_id), tag]
    try {
      const made = await deps.providers
        .for('provisioning')
        .createDropletOnce({ name, region, size, image, tags }, tag, {
          signal,
        })
      const ids = { droplet_id: made.dropletId, action_id: made.actionId }
      // So that the inventory shows it while it boots; the run does not depend on it.
      await sendRefresh(deps, 'droplet', made.dropletId).catch(err =>
        log.warn({ err }, 'the droplet will not be refreshed'),
      )
      return { ok: true, context: ids, output: ids }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      return { ok: false, reason: error.message, unknown: error.mayHaveHappened }
    }
  },

  async compensate({ sagaId, inputs, context, signal, log, transaction }) {
    const { size } = inputs as unknown as ProvisionInputs
    const provider = deps.providers.for('provisioning')
    const tag = sagaTag(sagaId)
    const known = typeof context.droplet_id === 'string' ? [context.droplet_id] : []
    const spared = new Set<string>()
    const spare = async (ids: string[]) => {
      const others = await transaction(tx => dropletsOfOthers(tx, String(context.tenant_id), ids))
      for (const id of others) {
        log.warn({ droplet_id: id, tag }, 'another tenant’s: spared')
        spared.add(id)
      }
      return others
    }
    const look = await transaction(tx => beginLook(tx, deps.clock))
    const droplets = await provider.destroyDroplets(
      { tag, dropletIds: known, spare, gpus: isGpuSize(size), unsure: known.length === 0 },
      { signal },
    )
    const destroyed = new Set(droplets.flatMap(({ id }) => idText(id) ?? []))
    // Somebody may have removed the saga's tag to keep it.
    for (const id of known)
      if (!destroyed.has(id) && (await provider.get('droplet', id, { signal }))) spared.add(id)
    await transaction(tx =>
      recordDestroyed(tx, deps, sagaId, { providerIds: known, tag, spared, seen: { droplets, look } }),
    )
    return { ok: true }
  },
})
