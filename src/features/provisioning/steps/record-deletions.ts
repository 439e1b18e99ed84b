// Step: the inventory learns that the droplets are gone, without waiting for three sweeps.
import type { Deps } from '../../../deps.ts'
import type { Step } from '../../sagas/index.ts'
import { recordDestroyed } from '../record-destroyed.ts'

export const recordDeletions = (deps: Pick<Deps, 'clock'>): Step => ({
  name: 'record_deletions',

  async execute({ sagaId, context, transaction }) {
    const dropletIds = (context.droplet_ids as unknown[]).map(String)
    const ids = await transaction(tx => recordDestroyed(tx, deps, sagaId, { providerIds: dropletIds }))
    return { ok: true, output: { resource_ids: ids } }
  },
})
