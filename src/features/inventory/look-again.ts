// Looking at the provider between the sweeps: single resources and whole kinds. It writes what it sees, and says of what it does
// not find that it is missing: only a whole sweep strikes.
import type { Deps } from '../../deps.ts'
import {
  isInProjects,
  itemId,
  type Kind,
  mapItem,
  type PagedListing,
  type Provider,
  type ProviderAction,
  type RawItem,
} from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { actionsOfKind, KINDS_WITH_ACTIONS } from './feed-plan.ts'
import type { Purpose, Spending } from './look-spending.ts'
import { isStorableId, type SeenResource, seenResource } from './seen-resource.ts'
import { beginLook, type Look } from './sync-run-store.ts'
import { markMissing, type Sighting, touchSetAside } from './write-resources.ts'
import { writeStorable } from './write-seen.ts'

export interface Looking {
  provider: Provider
  signal: AbortSignal
  spending: Spending
  /** The provider's actions of late, which events are explained by. */
  actions: readonly ProviderAction[]
  /** The same with those since: what a listing shows may have been done after the actions were read. */
  actionsNow: () => Promise<readonly ProviderAction[]>
}

export interface Seen {
  /** Ids of the rows that changed. */
  changed: string[]
  /** Whether something new was found that projects may hold, and that none is known to. */
  placeless: boolean
}

export interface SeenKind extends Seen {
  whole: boolean
  /** Pages that were read, or that there are if that is more. */
  pages: number
  /** Whether it was broken off, because others need the provider. */
  gaveWay: boolean
}

const ACTOR = 'feed'
/** A listing may lag behind what was read a moment ago: what was seen within this time is not missing yet. */
const SEEN_LATELY_MS = 10_000

type Parts = Pick<Deps, 'db' | 'clock'>

/**
 * Null where the provider does not have it although nothing said that it is gone: one answer alone is not believed. After a destroy
 * it is, and told at once; strikes and deletions are the sweeps'.
 */
export async function lookAtResource(
  { db, clock }: Parts,
  looking: Looking,
  kind: Kind,
  providerId: string,
  gone: boolean,
): Promise<Seen | null> {
  const { provider, signal, spending } = looking
  const look = await beginLook(db, clock)
  const raw = await provider.get(kind, providerId, { signal, counted: spending.counted })
  if (raw) return write(db, looking, kind, look, [raw])
  if (!gone) return null
  await transaction(db, tx => markMissing(tx, { kind, ...look, actor: ACTOR }, { providerId }))
  return { changed: [], placeless: false }
}

export async function lookAtKind(
  { db, clock }: Parts,
  looking: Looking,
  kind: Kind,
  what: Purpose,
): Promise<SeenKind> {
  const { provider, signal, spending } = looking
  const changed: string[] = []
  let placeless = false
  let gaveWay = false
  let expected = 0
  let look = await beginLook(db, clock)
  const first = look
  const listing = provider.pages(kind, { signal, counted: spending.counted })
  for await (const { items, total } of listing) {
    const seen = await write(db, looking, kind, look, items, true)
    changed.push(...seen.changed)
    placeless ||= seen.placeless
    gaveWay = !spending.mayGoOn()
    if (expected === 0) {
      expected = pagesOf(total, items.length)
      // It may be much longer than it was.
      if (expected > 1) gaveWay ||= !(await spending.may(expected - 1, what))
    }
    if (gaveWay) break
    // The next page is asked for when the loop goes on.
    look = await beginLook(db, clock)
  }
  const { complete } = listing.verdict
  if (complete) {
    const before = new Date(Date.parse(first.at) - SEEN_LATELY_MS).toISOString()
    await transaction(db, tx => markMissing(tx, { kind, ...first, actor: ACTOR }, { seenBefore: before }))
  }
  return {
    whole: complete,
    pages: Math.max(expected, pages(listing)),
    changed,
    placeless,
    gaveWay: gaveWay && !complete,
  }
}

const pages = ({ verdict }: PagedListing) => verdict.pages

/** As many as a listing of so many has, by its first page. */
const pagesOf = (total: number | null, onPage: number): number =>
  Math.ceil((total ?? onPage) / Math.max(1, onPage)) || 1

async function write(
  db: Parts['db'],
  { actions, actionsNow }: Looking,
  kind: Kind,
  look: Look,
  items: RawItem[],
  listed = false,
): Promise<Seen> {
  const sighting: Sighting = { kind, ...look, actor: ACTOR, actionsOf: actionsOfKind(actions, kind) }
  if (listed && KINDS_WITH_ACTIONS.includes(kind))
    sighting.actionsNow = async () => actionsOfKind(await actionsNow(), kind)
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
  const { changed, placeless } = await writeStorable(db, sighting, seen, ({ provider_id }) =>
    aside.push(provider_id),
  )
  await touchSetAside(db, sighting, aside)
  return { changed, placeless: placeless > 0 && isInProjects(kind) }
}
