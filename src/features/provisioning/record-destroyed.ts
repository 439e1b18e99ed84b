// Droplets that were destroyed leave the inventory at once, and nothing is desired of them any more.
import type { Deps } from '../../deps.ts'
import { mapItem, type RawItem } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { dropDesiredState } from '../drift/index.ts'
import { beginLook, type Look, recordGone, seenResource, writeSeen } from '../inventory/index.ts'
import { sagaActor } from './tags.ts'

export interface Destroyed {
  providerIds: readonly string[]
  /** Everything that carries the tag as well. */
  tag?: string
  /** Whatever else is said, these live. */
  spared?: Iterable<string>
  /** As they were last seen, and since when at the earliest. */
  seen?: { droplets: RawItem[]; look: Look }
}

/** The ids of their rows. The same when said twice. */
export async function recordDestroyed(
  tx: Executor,
  { clock }: Pick<Deps, 'clock'>,
  sagaId: string,
  { providerIds, tag, spared = [], seen }: Destroyed,
): Promise<string[]> {
  const sighting = { kind: 'droplet' as const, actor: sagaActor(sagaId) }
  const items = (seen?.droplets ?? []).map(raw => seenResource(mapItem('droplet', raw)))
  // Also what no sweep has written yet: one that is reading now may have seen it, and would bring it in as if it lived.
  for (const item of items) await writeSeen(tx, { ...sighting, ...seen!.look }, item)
  const look = await beginLook(tx, clock)
  const all = [...providerIds, ...items.map(item => item.provider_id)]
  const ids = await recordGone(tx, { ...sighting, ...look }, { providerIds: all, tag, spared: [...spared] })
  for (const id of ids) await dropDesiredState(tx, look.at, id)
  return ids
}
