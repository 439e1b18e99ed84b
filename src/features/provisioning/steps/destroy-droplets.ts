// Step: every droplet on record is destroyed, and looked for until none is shown. One that is gone already is as good.
import { idText } from '../../../integrations/digitalocean/index.ts'
import { deploymentTag, type InventoryKernel } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import type { DeprovisionInputs } from '../schemas.ts'

export const destroyDroplets = ({ providers }: Pick<InventoryKernel, 'providers'>): Step => ({
  name: 'destroy_droplets',
  timeoutMs: 30 * 60_000,

  async execute({ inputs, context, signal }) {
    const { deployment_id } = inputs as unknown as DeprovisionInputs
    const dropletIds = (context.droplet_ids as unknown[]).map(String)
    const seen = await providers
      .for('provisioning')
      .destroyDroplets({ tag: deploymentTag(deployment_id), dropletIds }, { signal })
    // One may have got the tag since they were listed.
    const ids = new Set([...dropletIds, ...seen.flatMap(({ id }) => idText(id) ?? [])])
    return { ok: true, context: { droplet_ids: [...ids] }, output: { destroyed: seen.length } }
  },
})
