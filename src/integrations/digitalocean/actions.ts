// What the provider did, newest first, and which resource each action was for.
import type { CallOptions } from './client.ts'
import { getRequest } from './client.ts'
import { nullIfNotFound } from './errors.ts'
import type { Kind } from './kinds.ts'
import type { ListingParts } from './listing.ts'
import { isRecord, objectAt, type RawItem, readPage } from './responses.ts'

export interface ProviderAction {
  id: number
  type: string
  underWay: boolean
  /** When it ended, or began; null where the provider does not say. */
  at: string | null
  region: string | null
  /** Null for what the inventory does not hold. */
  kind: Kind | null
  /** Null where the provider does not say which one: volumes and IPv6 addresses have no number. */
  provider_id: string | null
}

export interface ActionsPage {
  actions: ProviderAction[]
  /** Whether there are older ones behind it. */
  more: boolean
}

export interface ActionFeed {
  /** Newest first. */
  actionsPage(page: number, options?: CallOptions): Promise<ActionsPage>
  /** Null when the provider no longer knows it. */
  actionById(id: number, options?: CallOptions): Promise<ProviderAction | null>
}

export function createActionFeed({ client, limits }: ListingParts): ActionFeed {
  return {
    async actionsPage(page, options) {
      const query = new URLSearchParams({ page: String(page), per_page: String(limits.perPage) })
      const { target } = getRequest('/v2/actions')
      const body = await client.json({ method: 'GET', target: `${target}?${query}` }, options)
      const { items, next } = readPage(body ?? {}, 'actions', 'id')
      return { actions: items.flatMap(item => readAction(item) ?? []), more: next !== null }
    },
    async actionById(id, options) {
      const response = client.json(getRequest('/v2/actions/{action_id}', String(id)), options)
      const item = await nullIfNotFound(response.then(body => objectAt(body, 'action')))
      return item && readAction(item)
    },
  }
}

const KINDS: Record<string, Kind> = {
  droplet: 'droplet',
  volume: 'volume',
  image: 'image',
  floating_ip: 'reserved_ip',
  reserved_ip: 'reserved_ip',
  floating_ipv6: 'reserved_ip',
  reserved_ipv6: 'reserved_ip',
}

/** Null for what is none. */
export function readAction(raw: RawItem): ProviderAction | null {
  const { id, type, status, started_at, completed_at, resource_id, resource_type, region, region_slug } = raw
  if (!Number.isSafeInteger(id) || typeof type !== 'string') return null
  const kind =
    typeof resource_type === 'string' && Object.hasOwn(KINDS, resource_type) ? KINDS[resource_type]! : null
  const slug = region_slug ?? (isRecord(region) ? region.slug : null)
  return {
    id: id as number,
    type: type.slice(0, 64),
    underWay: status === 'in-progress',
    at: timeOf(completed_at) ?? timeOf(started_at),
    region: typeof slug === 'string' ? slug.slice(0, 64) : null,
    kind,
    provider_id: kind && resourceId(kind, resource_id),
  }
}

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

/** Of a reserved IP, its address as a number. */
function resourceId(kind: Kind, id: unknown): string | null {
  if (!Number.isSafeInteger(id) || (id as number) <= 0) return null
  const number = id as number
  if (kind !== 'reserved_ip') return String(number)
  return number < 2 ** 32 ? [24, 16, 8, 0].map(bits => (number >>> bits) & 255).join('.') : null
}
