// Looking at the provider between the sweeps: single resources and whole kinds. It writes what it sees and concludes nothing
// from what it does not: only a whole sweep strikes.
import type { Deps } from '../../deps.ts'
import {
  itemId,
  type Kind,
  mapItem,
  type Provider,
  type ProviderAction,
  type RawItem,
} from '../../integrations/digitalocean/index.ts'
import { actionsOfKind } from './feed-plan.ts'
import { isStorableId, type SeenResource, seenResource } from './seen-resource.ts'
import { beginLook, type Look } from './sync-run-store.ts'
import { touchSetAside } from './write-resources.ts'
import { writeStorable } from './write-seen.ts'

export interface Looking {
  provider: Provider
  signal: AbortSignal
  /** Called for each request. */
  counted: () => void
  /** The provider's actions of late, which events are explained by. */
  actions: readonly ProviderAction[]
}

const ACTOR = 'feed'

type Parts = Pick<Deps, 'db' | 'clock'>

/** The ids of the rows that changed. */
export async function lookAtResource(
  { db, clock }: Parts,
  looking: Looking,
  kind: Kind,
  providerId: string,
): Promise<string[]> {
  const { provider, signal, counted } = looking
  const look = await beginLook(db, clock)
  const raw = await provider.get(kind, providerId, { signal, counted })
  return raw ? write(db, looking, kind, look, [raw]) : []
}

/** Lists a kind; whether it was whole, and the ids of the rows that changed. */
export async function lookAtKind(
  { db, clock }: Parts,
  looking: Looking,
  kind: Kind,
): Promise<{ whole: boolean; changed: string[] }> {
  const { provider, signal, counted } = looking
  const changed: string[] = []
  let look = await beginLook(db, clock)
  const listing = provider.pages(kind, { signal, counted })
  for await (const { items } of listing) {
    changed.push(...(await write(db, looking, kind, look, items)))
    // The next page is asked for when the loop goes on.
    look = await beginLook(db, clock)
  }
  return { whole: listing.verdict.complete, changed }
}

async function write(
  db: Parts['db'],
  { actions }: Looking,
  kind: Kind,
  look: Look,
  items: RawItem[],
): Promise<string[]> {
  const sighting = { kind, ...look, actor: ACTOR, actionsOf: actionsOfKind(actions, kind) }
  const seen: SeenResource[] = []
  const aside: string[] = []
  for (const raw of items) {
    try {
      seen.push(seenResource(mapItem(kind, raw)))
    } catch {
      // The sweep says what is wrong with it.
      const id = itemId(kind, raw)
      if (id !== null && isStorableId(id)) aside.push(id)
    }
  }
  const { changed } = await writeStorable(db, sighting, seen, ({ provider_id }) => aside.push(provider_id))
  await touchSetAside(db, sighting, aside)
  return changed
}
