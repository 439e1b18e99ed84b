// Step: the inventory learns that the droplets are gone, without waiting for three sweeps.
import type { InventoryKernel } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { recordDestroyed } from '../record-destroyed.ts'

export const recordDeletions = (kernel: Pick<InventoryKernel, 'clock'>): Step => ({
  name: 'record_deletions',

  async execute({ sagaId, context, transaction }) {
    const dropletIds = (context.droplet_ids as unknown[]).map(String)
    const ids = await transaction(tx => recordDestroyed(tx, kernel, sagaId, { providerIds: dropletIds }))
    return { ok: true, output: { resource_ids: ids } }
  },
})
