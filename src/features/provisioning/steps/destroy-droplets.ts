// Step: destroys every droplet that was verified to be the deployment's, and polls until none is shown. One that is gone
// already counts as destroyed. One that got the tag since is left alone.
import type { Deps } from '../../../deps.ts'
import { deploymentTag } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import type { DeprovisionInputs } from '../provisioning.ts'

export const destroyDroplets = ({ providers }: Pick<Deps, 'providers'>): Step => ({
  name: 'destroy_droplets',
  timeoutMs: 30 * 60_000,

  async execute({ inputs, context, signal }) {
    const { deployment_id } = inputs as unknown as DeprovisionInputs
    // A run that was started by a release without that check.
    if (context.verified !== true)
      return { ok: false, reason: 'nobody has looked whose the droplets are; ask for it again' }
    const dropletIds = (context.droplet_ids as unknown[]).map(String)
    const spare = (ids: string[]) => ids.filter(id => !dropletIds.includes(id))
    const seen = await providers
      .for('provisioning')
      .destroyDroplets({ tag: deploymentTag(deployment_id), dropletIds, spare }, { signal })
    return { ok: true, output: { destroyed: seen.length } }
  },
})
