// Reading the account's resources: whole listings by kind, and a single one by its id.
import { idAt, objectAt } from './answers.ts'
import type { CallOptions } from './courier.ts'
import { ProviderError } from './errors.ts'
import { type Kind, kindEntry } from './kinds.ts'
import {
  collect,
  type Listing,
  type ListingParts,
  type ListOptions,
  openListing,
  type PagedListing,
} from './listing.ts'
import { getOrder } from './orders.ts'
import { idText, type RawItem } from './page.ts'

export interface Resources {
  list(kind: Kind, options?: ListOptions): Promise<Listing>
  /** The same page by page, for listings too large to hold. */
  pages(kind: Kind, options?: Pick<ListOptions, 'signal'>): PagedListing
  /** Null when the provider says there is none. */
  get(kind: Kind, providerId: string, options?: CallOptions): Promise<RawItem | null>
}

export function createResources(parts: ListingParts): Resources {
  function pages(kind: Kind, { signal }: Pick<ListOptions, 'signal'> = {}): PagedListing {
    const entry = kindEntry(kind)
    const sources = entry.sources.map(source => ({ ...source, idField: entry.id }))
    return openListing(parts, sources, signal)
  }

  async function list(kind: Kind, { signal, onPage }: ListOptions = {}): Promise<Listing> {
    return collect(pages(kind, { signal }), onPage)
  }

  async function findInListing(
    kind: Kind,
    providerId: string,
    options: CallOptions,
  ): Promise<RawItem | null> {
    const { items, complete, reason } = await list(kind, options)
    const found = items.find(item => idText(item[kindEntry(kind).id]) === providerId)
    // Not being in half a listing proves nothing.
    if (!found && !complete)
      throw new ProviderError(`could not look for it: ${reason}`, { kind: 'malformed' })
    return found ?? null
  }

  return {
    list,
    pages,
    async get(kind, providerId, options = {}) {
      const { one, id } = kindEntry(kind)
      // The specification has no endpoint for a single registry by name, nor for a single IPv6 address.
      if (!one || (kind === 'reserved_ip' && providerId.includes(':'))) {
        return findInListing(kind, providerId, options)
      }
      try {
        const item = objectAt(await parts.courier.json(getOrder(one.path, providerId), options), one.key)
        if (idAt(item, id).toLowerCase() !== providerId.toLowerCase()) {
          throw new ProviderError(`asked for one ${kind}, another was answered`, { kind: 'malformed' })
        }
        return item
      } catch (error) {
        if (error instanceof ProviderError && error.status === 404) return null
        throw error
      }
    },
  }
}
