// Making, finding, changing and destroying droplets. A create is sent exactly once: the provider knows no
// idempotency key, so whoever is unsure looks its tag up with findDropletsByTag before sending another.
import { idAt, objectAt } from './answers.ts'
import type { CallOptions } from './courier.ts'
import { ProviderError } from './errors.ts'
import type { components } from './generated/api.d.ts'
import { kindEntry } from './kinds.ts'
import { collect, type ListingParts, openListing, type Source } from './listing.ts'
import { deleteOrder, getOrder, type PostBody, postOrder } from './orders.ts'
import type { RawItem } from './page.ts'

type DropletFields = components['schemas']['droplet_single_create']

/** The generated type also demands every field that has a default; the provider does not. */
export type DropletInput = Pick<DropletFields, 'name' | 'size' | 'image'> & Partial<DropletFields>
export type DropletActionInput = PostBody<'/v2/droplets/{droplet_id}/actions'>

export interface Action {
  id: string
  /** `in-progress`, `completed` or `errored`. */
  status: string
  type: string
}

export interface Droplets {
  createDroplet(
    input: DropletInput,
    options?: CallOptions,
  ): Promise<{ droplet: RawItem; actionIds: string[] }>
  /**
   * All droplets with the tag; throws rather than answer from half a listing. GPU ones cost a second listing: `gpus: false`
   * where none of them can carry the tag.
   */
  findDropletsByTag(tag: string, options?: CallOptions & { gpus?: boolean }): Promise<RawItem[]>
  /** `absent` when there was nothing left to destroy. */
  destroyDroplet(dropletId: string, options?: CallOptions): Promise<'destroyed' | 'absent'>
  dropletAction(dropletId: string, action: DropletActionInput, options?: CallOptions): Promise<Action>
  getAction(actionId: string, options?: CallOptions): Promise<Action | null>
}

export function createDroplets(parts: ListingParts): Droplets {
  const { courier } = parts

  async function whole(source: Source, signal?: AbortSignal): Promise<RawItem[]> {
    const listing = await collect(openListing(parts, [source], signal))
    if (listing.complete) return listing.items
    throw new ProviderError(`the droplets could not be listed whole: ${listing.reason}`, {
      kind: 'malformed',
    })
  }

  return {
    async createDroplet(input, options) {
      const body = await courier.json(postOrder('/v2/droplets', input as DropletFields), options)
      const droplet = objectAt(body, 'droplet', true)
      idAt(droplet, 'id', true)
      const links = body?.links as { actions?: { id?: unknown }[] } | undefined
      const actions = Array.isArray(links?.actions) ? links.actions : []
      return {
        droplet,
        actionIds: actions.flatMap(({ id }) => (Number.isSafeInteger(id) ? [String(id)] : [])),
      }
    },

    async findDropletsByTag(tag, { signal, gpus: withGpus = true } = {}) {
      const source = { path: '/v2/droplets', key: 'droplets', idField: kindEntry('droplet').id, paged: true }
      const tagged = await whole({ ...source, query: { tag_name: tag } }, signal)
      if (!withGpus) return tagged
      // The tag filter cannot be combined with the type, and without the type GPU droplets are left out.
      const gpus = await whole({ ...source, query: { type: 'gpus' } }, signal)
      const known = new Set(tagged.map(droplet => droplet.id))
      const more = gpus.filter(({ id, tags }) => !known.has(id) && Array.isArray(tags) && tags.includes(tag))
      return [...tagged, ...more]
    },

    async destroyDroplet(dropletId, options) {
      try {
        await courier.json(deleteOrder('/v2/droplets/{droplet_id}', dropletId), options)
        return 'destroyed'
      } catch (error) {
        if (error instanceof ProviderError && error.status === 404) return 'absent'
        throw error
      }
    },

    async dropletAction(dropletId, action, options) {
      const order = postOrder('/v2/droplets/{droplet_id}/actions', action, dropletId)
      return actionOf(await courier.json(order, options), true)
    },

    async getAction(actionId, options) {
      try {
        return actionOf(await courier.json(getOrder('/v2/actions/{action_id}', actionId), options), false)
      } catch (error) {
        if (error instanceof ProviderError && error.status === 404) return null
        throw error
      }
    },
  }
}

function actionOf(body: RawItem | null, afterWrite: boolean): Action {
  const action = objectAt(body, 'action', afterWrite)
  return { id: idAt(action, 'id', afterWrite), status: String(action.status), type: String(action.type) }
}
