// A droplet from its create to its end, for whoever must not lose track of one: made once although the provider knows no
// idempotency key, waited for, and destroyed until the provider shows none. The tag is what it is found by.
import { idAt } from './answers.ts'
import type { CallOptions } from './courier.ts'
import type { DropletInput, Droplets } from './droplets.ts'
import { ProviderError } from './errors.ts'
import type { Limits } from './limits.ts'
import type { RawItem } from './page.ts'
import { type Patience, passes } from './patience.ts'
import type { Resources } from './resources.ts'

export interface MadeDroplet {
  dropletId: string
  /** The create action; null when the droplet was found instead of made, for then nobody was told. */
  actionId: string | null
}

/** Those with the tag, and those named whose tags cannot be read: one that is seen to lack the tag is left alone. */
export interface Doomed {
  tag: string
  dropletIds?: readonly string[]
  /** Of those that are about to be destroyed for their tag, the ones to leave alone: anybody can write a tag. */
  spare?: (ids: string[]) => readonly string[] | Promise<readonly string[]>
  /** False: the tag is on no GPU droplet, and one listing less is asked for. */
  gpus?: boolean
  /** The outcome of a create is not known: nothing to be seen yet does not mean that nothing is there. */
  unsure?: boolean
}

export interface DropletLife {
  /** The tag must be among the input's: a droplet that carries it already is the one that was asked for. */
  createDropletOnce(input: DropletInput, tag: string, options?: CallOptions): Promise<MadeDroplet>
  /** The droplet once it is active. Throws when it is gone or could not be made. */
  untilDropletActive(made: MadeDroplet, options?: CallOptions): Promise<RawItem>
  /** Destroys them and looks until none is shown any more; what was seen of them before. */
  destroyDroplets(doomed: Doomed, options?: CallOptions): Promise<RawItem[]>
}

export interface LifeParts {
  droplets: Droplets
  resources: Pick<Resources, 'get'>
  patience: Patience
  limits: Pick<Limits, 'settleMs' | 'recheckMs' | 'bootMs' | 'destroyMs' | 'pollBaseMs'>
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

export const isGpuSize = (size: string): boolean => /gpu/i.test(size)

export function createDropletLife({ droplets, resources, patience, limits, sleep }: LifeParts): DropletLife {
  /** Undefined when it may have been done all the same. */
  async function sendOnce(
    input: DropletInput,
    sent: { unsure?: ProviderError },
    signal?: AbortSignal,
  ): Promise<MadeDroplet | undefined> {
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
      const find = async (): Promise<MadeDroplet | undefined> => {
        const [found] = await droplets.findDropletsByTag(tag, { signal, gpus })
        return found && { dropletId: idAt(found, 'id'), actionId: null }
      }
      const sent: { unsure?: ProviderError } = {}
      // Trouble before anything was sent is borne: the rate limit, a connection that was never made.
      const made = await patience.until(
        async () => (await find()) ?? (await sendOnce(input, sent, signal)) ?? null,
        { signal },
      )
      if (made) return made
      // Sent, and no good answer: from here on it is only looked for.
      const found = await patience.until(find, { withinMs: limits.settleMs, signal })
      if (found) return found
      const message = `${sent.unsure?.message}; no droplet with the tag ${tag} has turned up since`
      throw new ProviderError(message, { kind: 'answer', mayHaveHappened: true })
    },

    async untilDropletActive({ dropletId, actionId }, { signal } = {}) {
      const wait = { withinMs: limits.bootMs, signal }
      // No droplet boots at once: the first look would be wasted.
      await sleep(limits.pollBaseMs, signal)
      if (actionId !== null) {
        const outcome = await patience.until(async () => {
          const action = await droplets.getAction(actionId, { signal })
          return action?.status === 'in-progress' ? undefined : (action?.status ?? 'unknown')
        }, wait)
        if (outcome === 'errored') throw failure(`the provider could not make the droplet ${dropletId}`)
      }
      const active = await patience.until(async () => {
        const droplet = await resources.get('droplet', dropletId, { signal })
        if (!droplet) throw failure(`the droplet ${dropletId} is gone`)
        return droplet.status === 'active' ? droplet : undefined
      }, wait)
      if (!active)
        throw failure(`the droplet ${dropletId} was not active within ${limits.bootMs / 60_000} minutes`)
      return active
    },

    async destroyDroplets(doomed, { signal } = {}) {
      const { tag, dropletIds = [], spare = () => [], gpus = true, unsure = false } = doomed
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
        await patience.until(anything, { withinMs: limits.recheckMs, signal })
      }
      const none = await patience.until(
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

const failure = (message: string) => new ProviderError(message, { kind: 'answer' })
