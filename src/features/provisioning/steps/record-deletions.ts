// Step: records in the inventory that the droplets are gone, without waiting for three sweeps. Every other place that
// destroys droplets records it the same way.
import type { Deps } from '../../../deps.ts'
import { mapItem, type RawItem } from '../../../integrations/digitalocean/index.ts'
import type { Executor } from '../../../kernel/db/tables.ts'
import { dropDesiredState } from '../../drift/index.ts'
import { beginLook, type Look, recordGone, seenResource, writeSeen } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { sagaActor } from '../provisioning.ts'

export const recordDeletions = (deps: Pick<Deps, 'clock'>): Step => ({
  name: 'record_deletions',

  async execute({ sagaId, context, transaction }) {
    const dropletIds = (context.droplet_ids as unknown[]).map(String)
    const ids = await transaction(tx => recordDestroyed(tx, deps, sagaId, { providerIds: dropletIds }))
    return { ok: true, output: { resource_ids: ids } }
  },
})

export interface Destroyed {
  providerIds: readonly string[]
  /** Everything with the tag was destroyed as well. */
  tag?: string
  /** These were not destroyed, even with the tag. */
  spared?: Iterable<string>
  /** The droplets as they were last seen, and since when at the earliest. */
  seen?: { droplets: RawItem[]; look: Look }
}

/** Their desired states are dropped too. Returns the ids of their rows; doing it twice changes nothing. */
export async function recordDestroyed(
  tx: Executor,
  { clock }: Pick<Deps, 'clock'>,
  sagaId: string,
  { providerIds, tag, spared = [], seen }: Destroyed,
): Promise<string[]> {
  const sighting = { kind: 'droplet' as const, actor: sagaActor(sagaId) }
  const items = (seen?.droplets ?? []).map(raw => seenResource(mapItem('droplet', raw)))
  // Also droplets without a row yet: a sweep that is reading now may have seen one, and would record it as living.
  for (const item of items) await writeSeen(tx, { ...sighting, ...seen!.look }, item)
  const look = await beginLook(tx, clock)
  const all = [...providerIds, ...items.map(item => item.provider_id)]
  const ids = await recordGone(tx, { ...sighting, ...look }, { providerIds: all, tag, spared: [...spared] })
  for (const id of ids) await dropDesiredState(tx, look.at, id)
  return ids
}
