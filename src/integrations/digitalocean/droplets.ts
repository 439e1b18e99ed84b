// Creating, finding, changing and destroying droplets. A create is sent exactly once: the provider knows no
// idempotency key, so whoever is unsure looks its tag up with findDropletsByTag before sending another.
import { type CallOptions, deleteRequest, getRequest, type PostBody, postRequest } from './client.ts'
import { nullIfNotFound, ProviderError, passes } from './errors.ts'
import type { components } from './generated/api.d.ts'
import { kindEntry } from './kinds.ts'
import type { Limits } from './limits.ts'
import { collect, type ListingParts, openListing, type Source } from './listing.ts'
import type { Polling } from './polling.ts'
import type { Resources } from './resources.ts'
import { idAt, objectAt, type RawItem } from './responses.ts'

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
   * All droplets with the tag; throws rather than return half a listing. GPU ones cost a second listing: `gpus: false`
   * where none of them can carry the tag.
   */
  findDropletsByTag(tag: string, options?: CallOptions & { gpus?: boolean }): Promise<RawItem[]>
  /** `absent` when there was nothing left to destroy. */
  destroyDroplet(dropletId: string, options?: CallOptions): Promise<'destroyed' | 'absent'>
  dropletAction(dropletId: string, action: DropletActionInput, options?: CallOptions): Promise<Action>
  getAction(actionId: string, options?: CallOptions): Promise<Action | null>
}

export function createDroplets(parts: ListingParts): Droplets {
  const { client } = parts

  async function whole(source: Source, signal?: AbortSignal): Promise<RawItem[]> {
    const listing = await collect(openListing(parts, [source], { signal }))
    if (listing.complete) return listing.items
    throw new ProviderError(`the droplets could not be listed whole: ${listing.reason}`, {
      kind: 'malformed',
    })
  }

  return {
    async createDroplet(input, options) {
      const body = await client.json(postRequest('/v2/droplets', input as DropletFields), options)
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
      const destroy = async () => {
        await client.json(deleteRequest('/v2/droplets/{droplet_id}', dropletId), options)
        return 'destroyed' as const
      }
      return (await nullIfNotFound(destroy())) ?? 'absent'
    },

    async dropletAction(dropletId, action, options) {
      const request = postRequest('/v2/droplets/{droplet_id}/actions', action, dropletId)
      return actionOf(await client.json(request, options), true)
    },

    async getAction(actionId, options) {
      const body = client.json(getRequest('/v2/actions/{action_id}', actionId), options)
      return nullIfNotFound(body.then(body => actionOf(body, false)))
    },
  }
}

function actionOf(body: RawItem | null, afterWrite: boolean): Action {
  const action = objectAt(body, 'action', afterWrite)
  return { id: idAt(action, 'id', afterWrite), status: String(action.status), type: String(action.type) }
}

// A droplet from its create to its end, for whoever must not lose track of one: created once although the provider knows
// no idempotency key, waited for, and destroyed until the provider shows none. The tag is what it is found by.

export interface CreatedDroplet {
  dropletId: string
  /** The create action; null when the droplet was found instead of created: its action is not known then. */
  actionId: string | null
}

/** Those with the tag, and those named whose tags cannot be read: one that is seen to lack the tag is left alone. */
export interface DropletsToDestroy {
  tag: string
  dropletIds?: readonly string[]
  /** Of those that are about to be destroyed for their tag, the ones to leave alone: anybody can write a tag. */
  spare?: (ids: string[]) => readonly string[] | Promise<readonly string[]>
  /** False: the tag is on no GPU droplet, and one listing less is asked for. */
  gpus?: boolean
  /** The outcome of a create is not known: nothing to be seen yet does not mean that nothing is there. */
  unsure?: boolean
}

export interface DropletLifecycle {
  /** The tag must be among the input's: a droplet that carries it already is the one that was asked for. */
  createDropletOnce(input: DropletInput, tag: string, options?: CallOptions): Promise<CreatedDroplet>
  /** The droplet once it is active. Throws when it is gone or could not be made. */
  waitForActiveDroplet(made: CreatedDroplet, options?: CallOptions): Promise<RawItem>
  /** Destroys them and polls until none is shown any more; returns what was seen of them before. */
  destroyDroplets(which: DropletsToDestroy, options?: CallOptions): Promise<RawItem[]>
}

export interface LifecycleParts {
  droplets: Droplets
  resources: Pick<Resources, 'get'>
  poll: Polling['poll']
  limits: Pick<Limits, 'settleMs' | 'recheckMs' | 'bootMs' | 'destroyMs' | 'pollBaseMs'>
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

export const isGpuSize = (size: string): boolean => /gpu/i.test(size)

export function createDropletLifecycle({
  droplets,
  resources,
  poll,
  limits,
  sleep,
}: LifecycleParts): DropletLifecycle {
  /** Undefined when it may have been done all the same. */
  async function sendOnce(
    input: DropletInput,
    sent: { unsure?: ProviderError },
    signal?: AbortSignal,
  ): Promise<CreatedDroplet | undefined> {
    try {
      const { droplet, actionIds } = await droplets.createDroplet(input, { signal })
      return { dropletId: idAt(droplet, 'id', true), actionId: actionIds[0] ?? null }
    } catch (error) {
      if (!(error instanceof ProviderError) || !error.mayHaveHappened) throw error
      sent.unsure = error
      return undefined
    }
  }

  return {
    async createDropletOnce(input, tag, { signal } = {}) {
      const gpus = isGpuSize(input.size)
      const find = async (): Promise<CreatedDroplet | undefined> => {
        const [found] = await droplets.findDropletsByTag(tag, { signal, gpus })
        return found && { dropletId: idAt(found, 'id'), actionId: null }
      }
      const sent: { unsure?: ProviderError } = {}
      // Trouble before anything was sent is borne: the rate limit, a connection that was never made.
      const made = await poll(async () => (await find()) ?? (await sendOnce(input, sent, signal)) ?? null, {
        signal,
      })
      if (made) return made
      // Sent, without a good response: from here on it is only looked for.
      const found = await poll(find, { withinMs: limits.settleMs, signal })
      if (found) return found
      const message = `${sent.unsure?.message}; no droplet with the tag ${tag} has turned up since`
      throw new ProviderError(message, { kind: 'response', mayHaveHappened: true })
    },

    async waitForActiveDroplet({ dropletId, actionId }, { signal } = {}) {
      const wait = { withinMs: limits.bootMs, signal }
      // No droplet boots at once: the first poll would be wasted.
      await sleep(limits.pollBaseMs, signal)
      if (actionId !== null) {
        const outcome = await poll(async () => {
          const action = await droplets.getAction(actionId, { signal })
          return action?.status === 'in-progress' ? undefined : (action?.status ?? 'unknown')
        }, wait)
        if (outcome === 'errored') throw failure(`the provider could not make the droplet ${dropletId}`)
      }
      const active = await poll(async () => {
        const droplet = await resources.get('droplet', dropletId, { signal })
        if (!droplet) throw failure(`the droplet ${dropletId} is gone`)
        return droplet.status === 'active' ? droplet : undefined
      }, wait)
      if (!active)
        throw failure(`the droplet ${dropletId} was not active within ${limits.bootMs / 60_000} minutes`)
      return active
    },

    async destroyDroplets(which, { signal } = {}) {
      const { tag, dropletIds = [], spare = () => [], gpus = true, unsure = false } = which
      const seen = new Map<string, RawItem>()
      const carriedTag = new Set<string>()
      const spared = new Set<string>()
      const living = async (): Promise<string[]> => {
        const shown = new Map<string, RawItem>()
        for (const droplet of await droplets.findDropletsByTag(tag, { signal, gpus }))
          shown.set(idAt(droplet, 'id'), droplet)
        for (const id of shown.keys()) carriedTag.add(id)
        // One that carried the tag is gone when the tag's listing no longer shows it; the others have to be asked for.
        for (const id of dropletIds.filter(id => !carriedTag.has(id))) {
          const droplet = await resources.get('droplet', id, { signal })
          if (droplet && !(Array.isArray(droplet.tags) && !droplet.tags.includes(tag))) shown.set(id, droplet)
        }
        // Each is judged once, when it is first shown.
        const fresh = [...shown.keys()].filter(id => !seen.has(id) && !spared.has(id))
        if (fresh.length > 0) for (const id of await spare(fresh)) spared.add(id)
        for (const id of spared) shown.delete(id)
        for (const [id, droplet] of shown) seen.set(id, droplet)
        return [...shown.keys()]
      }
      if (unsure) {
        const anything = async () => ((await living()).length > 0 ? true : undefined)
        await poll(anything, { withinMs: limits.recheckMs, signal })
      }
      const none = await poll(
        async () => {
          const ids = await living()
          for (const id of ids) await droplets.destroyDroplet(id, { signal })
          return ids.length === 0 ? true : undefined
        },
        { withinMs: limits.destroyMs, signal, bears: error => passes(error) || isLocked(error) },
      )
      if (!none) throw failure(`droplets with the tag ${tag} are still shown after they were destroyed`)
      return [...seen.values()]
    },
  }
}

/** A droplet in the middle of an event, its own creation for one, is not destroyed before that is over. */
const isLocked = ({ status }: ProviderError) => status === 422 || status === 409

const failure = (message: string) => new ProviderError(message, { kind: 'response' })
