// Step: records which droplets the inventory ties to the deployment before anything is destroyed; the next step adds those
// that only the provider knows. A droplet whose tag was removed at the provider since the last sweep is left alone, and so is
// one that an operator assigned and no tag ties: nothing at the provider says that it may be destroyed.
//
// Destroying cannot be undone, but the inventory is corrected: if the run does not complete, the droplets that are gone by
// then are recorded as gone.
import type { Deps } from '../../../deps.ts'
import { idText, type Provider } from '../../../integrations/digitalocean/index.ts'
import { deploymentTag, livingOfDeployment } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import type { DeprovisionInputs } from '../provisioning.ts'
import { recordDestroyed } from './record-deletions.ts'

export const listDroplets = (deps: Deps): Step => ({
  name: 'list_droplets',
  timeoutMs: 10 * 60_000,

  async execute({ inputs, signal, transaction }) {
    const { deployment_id } = inputs as unknown as DeprovisionInputs
    const tag = deploymentTag(deployment_id)
    const tagged = await deps.providers.for('provisioning').findDropletsByTag(tag, { signal })
    const carriers = new Set(tagged.flatMap(({ id }) => idText(id) ?? []))
    const [tied, untied]: [string[], string[]] = [[], []]
    const living = await transaction(tx => livingOfDeployment(tx, 'droplet', deployment_id))
    for (const { provider_id, assigned_deployment_id } of living) {
      const lost =
        !carriers.has(provider_id) &&
        (assigned_deployment_id !== null ||
          (await isUntied(deps.providers.for('provisioning'), provider_id, tag, signal)))
      ;(lost ? untied : tied).push(provider_id)
    }
    const droplets = { droplet_ids: tied }
    return { ok: true, context: droplets, output: { ...droplets, left_alone: untied } }
  },

  async compensate({ sagaId, context, signal, transaction }) {
    const ids = Array.isArray(context.droplet_ids) ? context.droplet_ids.map(String) : []
    const gone: string[] = []
    for (const id of ids)
      if (!(await deps.providers.for('provisioning').get('droplet', id, { signal }))) gone.push(id)
    await transaction(tx => recordDestroyed(tx, deps, sagaId, { providerIds: gone }))
    return { ok: true }
  },
})

/** One that is gone is not untied: its row must still be closed. Tags that the token may not read say nothing. */
async function isUntied(provider: Provider, id: string, tag: string, signal: AbortSignal): Promise<boolean> {
  const droplet = await provider.get('droplet', id, { signal })
  return droplet !== null && Array.isArray(droplet.tags) && !droplet.tags.includes(tag)
}
