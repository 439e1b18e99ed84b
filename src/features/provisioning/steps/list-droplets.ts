// Step: what the inventory ties to the deployment, put on record before anything is destroyed; the next step adds what only
// the provider knows of. A droplet whose tie was taken away at the provider since the last sweep is left alone.
//
// Destroying cannot be undone. What can be is a record that no longer tells the truth: if the run does not get to its end,
// the droplets that are gone by then are recorded as gone.
import type { Deps } from '../../../deps.ts'
import { idText, type Provider } from '../../../integrations/digitalocean/index.ts'
import { deploymentTag, livingOfDeployment } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { recordDestroyed } from '../record-destroyed.ts'
import type { DeprovisionInputs } from '../schemas.ts'

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
    for (const { provider_id } of living) {
      const lost =
        !carriers.has(provider_id) &&
        (await isUntied(deps.providers.for('provisioning'), provider_id, tag, signal))
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

/** Gone is not untied: what is gone still has a row to be closed. Tags that the token may not read say nothing. */
async function isUntied(provider: Provider, id: string, tag: string, signal: AbortSignal): Promise<boolean> {
  const droplet = await provider.get('droplet', id, { signal })
  return droplet !== null && Array.isArray(droplet.tags) && !droplet.tags.includes(tag)
}
