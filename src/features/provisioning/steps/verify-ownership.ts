// Step: makes sure that only the deployment's droplets will be destroyed. Anybody can write a tag, and our mirror may be an
// hour old, so the provider is asked right before the first destroy which droplets have the deployment's tag and which are
// in the tenant's projects. One droplet that is not both stops the run before anything is destroyed.
import type { Deps } from '../../../deps.ts'
import {
  idText,
  type Provider,
  ProviderError,
  type RawItem,
  resourceOfUrn,
} from '../../../integrations/digitalocean/index.ts'
import { lockDeploymentAlone } from '../../deployments/index.ts'
import { deploymentOfTags, deploymentTag, projectsOfTenant } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import type { DeprovisionInputs } from '../provisioning.ts'

export const verifyOwnership = ({ providers }: Pick<Deps, 'providers'>): Step => ({
  name: 'verify_ownership',
  timeoutMs: 10 * 60_000,

  async execute({ inputs, context, signal, log, transaction }) {
    const { deployment_id } = inputs as unknown as DeprovisionInputs
    const provider = providers.for('provisioning')
    const projects = await transaction(async tx => {
      const deployment = await lockDeploymentAlone(tx, deployment_id)
      return deployment ? projectsOfTenant(tx, deployment.tenant_id) : []
    })
    const listed = (context.droplet_ids as unknown[]).map(String)
    const living = await livingDroplets(provider, deploymentTag(deployment_id), listed, signal)
    const held = new Set<string>()
    for (const { provider_id } of projects)
      for (const id of await dropletsHeldBy(provider, provider_id, signal)) held.add(id)
    const strays = [...living].filter(
      ([id, droplet]) => !held.has(id) || belongsElsewhere(droplet, deployment_id),
    )
    if (strays.length > 0) {
      // Their ids are for operators alone: the run may be shown to the deployment's tenant.
      log.warn({ deployment_id, droplet_ids: strays.map(([id]) => id) }, 'tagged, but not the deployment’s')
      return { ok: false, reason: refusal(strays.length, deployment_id) }
    }
    const ids = [...new Set([...listed, ...living.keys()])]
    return { ok: true, context: { droplet_ids: ids, verified: true }, output: { verified: living.size } }
  },
})

/** Those with the tag, and those on record that are still there. */
async function livingDroplets(
  provider: Provider,
  tag: string,
  listed: string[],
  signal: AbortSignal,
): Promise<Map<string, RawItem>> {
  const living = new Map<string, RawItem>()
  for (const droplet of await provider.findDropletsByTag(tag, { signal })) {
    const id = idText(droplet.id)
    if (id !== null) living.set(id, droplet)
  }
  for (const id of listed.filter(id => !living.has(id))) {
    const droplet = await provider.get('droplet', id, { signal })
    if (droplet) living.set(id, droplet)
  }
  return living
}

async function dropletsHeldBy(provider: Provider, projectId: string, signal: AbortSignal): Promise<string[]> {
  const list = await provider.projectResources(projectId, { signal })
  if (!list.complete)
    throw new ProviderError(`what the tenant’s project holds could not be listed whole: ${list.reason}`, {
      kind: 'malformed',
    })
  return list.items.flatMap(({ urn }) => {
    const held = resourceOfUrn(String(urn))
    return held?.kind === 'droplet' ? [held.provider_id] : []
  })
}

/** Tags that the token may not read say nothing. */
function belongsElsewhere({ tags }: RawItem, deploymentId: string): boolean {
  return Array.isArray(tags) && deploymentOfTags(tags.map(String)) !== deploymentId
}

function refusal(strays: number, deploymentId: string): string {
  const [what, are] = strays === 1 ? ['a droplet', 'is'] : [`${strays} droplets`, 'are']
  return (
    `${what} with the tag ${deploymentTag(deploymentId)} ${are} not in a project of the tenant, or ` +
    `${strays === 1 ? 'has' : 'have'} the tag of another deployment too; nothing was destroyed`
  )
}
