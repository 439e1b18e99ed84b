// The account's resources: whole listings by kind, a single one by its id, and what the inventory stores of one.
import { type CallOptions, getRequest } from './client.ts'
import { nullIfNotFound } from './errors.ts'
import { type Kind, type KindEntry, kindEntry, urnOf } from './kinds.ts'
import {
  collect,
  type Listing,
  type ListingParts,
  type ListOptions,
  openListing,
  type PagedListing,
} from './listing.ts'
import { idAt, idText, isRecord, malformed, objectAt, type RawItem } from './responses.ts'

export interface Resources {
  list(kind: Kind, options?: ListOptions): Promise<Listing>
  /** The same page by page, for listings too large to hold. */
  pages(kind: Kind, options?: Pick<ListOptions, 'signal' | 'counted'>): PagedListing
  /** Null when the provider says there is none. */
  get(kind: Kind, providerId: string, options?: CallOptions): Promise<RawItem | null>
}

export function createResources(parts: ListingParts): Resources {
  function pages(kind: Kind, options: Pick<ListOptions, 'signal' | 'counted'> = {}): PagedListing {
    const entry = kindEntry(kind)
    const sources = entry.sources.map(source => ({ ...source, idField: entry.id }))
    return openListing(parts, sources, options)
  }

  async function list(kind: Kind, { onPage, ...options }: ListOptions = {}): Promise<Listing> {
    return collect(pages(kind, options), onPage)
  }

  async function findInListing(
    kind: Kind,
    providerId: string,
    options: CallOptions,
  ): Promise<RawItem | null> {
    const { items, complete, reason } = await list(kind, options)
    const found = items.find(item => idText(item[kindEntry(kind).id]) === providerId)
    // Not being in half a listing proves nothing.
    if (!found && !complete) throw malformed(`could not look for it: ${reason}`)
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
      const response = parts.client.json(getRequest(one.path, providerId), options)
      const item = await nullIfNotFound(response.then(body => objectAt(body, one.key)))
      if (item && idAt(item, id).toLowerCase() !== providerId.toLowerCase())
        throw malformed(`asked for one ${kind}, another was answered`)
      return item
    },
  }
}

// What the inventory stores of a resource. A field the response lacks (a token without a side scope) is absent here too:
// missing is not a change to null.

export interface MappedItem {
  provider_id: string
  kind: Kind
  /** This and the next three: absent when the response said nothing about it. */
  name?: string
  region?: string | null
  status?: string | null
  tags?: string[]
  attrs: Record<string, unknown>
  /** Attributes that were left out because they cannot be kept, each in words; absent when there are none. */
  omitted?: string[]
  urn: string | null
}

/** The item's id as text; null when it has none. */
export const itemId = (kind: Kind, raw: RawItem): string | null => idText(raw[kindEntry(kind).id])

export function mapItem(kind: Kind, raw: RawItem): MappedItem {
  const entry = kindEntry(kind)
  const id = itemId(kind, raw)
  if (id === null) throw malformed(`a ${kind} has no usable ${entry.id}`)
  const name = firstText(raw, entry.name)
  const region = firstText(raw, entry.region)
  const status = firstText(raw, entry.status)
  const tags = entry.tagged ? tagsOf(raw) : undefined
  const { attrs, omitted } = attributesOf(entry, raw)
  return {
    provider_id: id,
    kind,
    ...(name === undefined ? {} : { name: name ?? id }),
    ...(region === undefined ? {} : { region }),
    ...(status === undefined ? {} : { status }),
    ...(tags ? { tags } : {}),
    attrs,
    ...(omitted.length > 0 ? { omitted } : {}),
    urn: urnOf(kind, id),
  }
}

export function isTransitional(kind: Kind, item: { status?: string | null }): boolean {
  return typeof item.status === 'string' && kindEntry(kind).transitional.includes(item.status)
}

/** The documented type is a nullable array: null says "none", only a missing field says nothing. */
function tagsOf(raw: RawItem): string[] | undefined {
  if (!Object.hasOwn(raw, 'tags') || raw.tags === undefined) return undefined
  const tags = Array.isArray(raw.tags) ? raw.tags.filter(tag => typeof tag === 'string') : []
  return [...new Set(tags)].sort()
}

/** Null when there is no such text; undefined when the response lacks every field that could hold it. */
function firstText(raw: RawItem, paths: readonly string[]): string | null | undefined {
  for (const path of paths) {
    const value = at(raw, path)
    if (typeof value === 'string' && value !== '') return value
    // Snapshots and images list regions: with exactly one, that is where they are.
    if (Array.isArray(value) && value.length === 1 && typeof value[0] === 'string') return value[0]
  }
  const silent = paths.length > 0 && paths.every(path => !Object.hasOwn(raw, path.split('.', 1)[0]!))
  return silent ? undefined : null
}

function at(raw: RawItem, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      raw,
    )
}

// The attributes: everything but noise, with secrets dropped by rule at any depth and arrays in one canonical order.

/** Fields that have a column of their own. */
const columns = new Set(['id', 'name', 'region', 'region_slug', 'status', 'tags'])

/**
 * By name rather than by kind, so that a field the provider adds tomorrow is covered too. It would rather
 * lose a harmless label called "token" than store one credential.
 */
const secretName =
  /passw|secret|credential|kubeconfig|(^|_)connection$|(^|_)(token|uri|dsn|api_key|access_key|private_key|access_cert|ca_cert|client_cert|client_key)s?(_|$)|certificate_authority|client_certificate/i

/** The user part of an address such as `https://user:key@host/`. It is looked for behind each `://`, in one pass. */
const userInAddress = /(?<=[a-z0-9+.-]:\/\/)[^\s/?#@]*@/gi

/** Nothing that the provider documents is nested half as deep; a database takes a few thousand levels at most. */
const DEEPEST = 40

export interface Attributes {
  attrs: Record<string, unknown>
  /** What was left out because it is nested too deep, in words. */
  omitted: string[]
}

export function attributesOf(entry: KindEntry, raw: RawItem): Attributes {
  const omitted: string[] = []
  const left = Object.keys(raw).filter(key => !columns.has(key) && key !== entry.id)
  const attrs = cleanObject(raw, left, '', entry, DEEPEST, key => {
    omitted.push(`its attribute ${key.slice(0, 50)} is nested too deep`)
  })
  return { attrs, omitted }
}

/** Thrown where the levels end; it costs the attribute that it happens in. */
const TOO_DEEP = new Error('nested too deep')

/**
 * Object.fromEntries defines keys instead of assigning them: a field called `__proto__` stays a field. Keys
 * are sorted so that equal objects have equal texts, which the order of arrays is decided by.
 */
function cleanObject(
  from: Record<string, unknown>,
  keys: string[],
  path: string,
  entry: KindEntry,
  levels: number,
  onTooDeep?: (key: string) => void,
): Record<string, unknown> {
  const kept: [string, unknown][] = []
  for (const key of keys.sort()) {
    if (isSecret(key)) continue
    const at = path ? `${path}.${key}` : key
    if (entry.secrets.includes(at) || entry.noise.includes(at)) continue
    try {
      kept.push([key, clean(from[key], at, entry, levels)])
    } catch (error) {
      if (error !== TOO_DEEP || !onTooDeep) throw error
      onTooDeep(key)
    }
  }
  return Object.fromEntries(kept)
}

/** The provider's field names are few: each is looked at once. */
const judged = new Map<string, boolean>()
function isSecret(key: string): boolean {
  let secret = judged.get(key)
  if (secret === undefined) {
    secret = secretName.test(key)
    // Labels are keys too, and anyone may invent those.
    if (judged.size < 2_000 && key.length < 100) judged.set(key, secret)
  }
  return secret
}

function clean(value: unknown, path: string, entry: KindEntry, levels: number): unknown {
  if (typeof value === 'string') return value.includes('://') ? value.replace(userInAddress, '') : value
  if (typeof value === 'object' && value !== null && levels === 0) throw TOO_DEEP
  if (Array.isArray(value)) {
    // What an app's environment holds is nobody's inventory, marked SECRET or not: only the names are kept.
    const items = path === 'envs' || path.endsWith('.envs') ? value.map(withoutValue) : value
    const cleaned = items.map(item => clean(item, path, entry, levels - 1))
    return cleaned.length < 2 || entry.ordered.includes(path) ? cleaned : canonicallySorted(cleaned)
  }
  if (!isRecord(value)) return value
  const only = Object.hasOwn(entry.keepOnly, path) ? entry.keepOnly[path] : undefined
  const keys = Object.keys(value)
  return cleanObject(value, only ? keys.filter(key => only.includes(key)) : keys, path, entry, levels - 1)
}

function withoutValue(item: unknown): unknown {
  return isRecord(item) ? Object.fromEntries(Object.entries(item).filter(([key]) => key !== 'value')) : item
}

/** Numbers by size, everything else by its text, which is made once for each. */
function canonicallySorted(values: unknown[]): unknown[] {
  return values
    .map(value => ({ value, text: JSON.stringify(value) }))
    .sort((a, b) => {
      if (typeof a.value === 'number' && typeof b.value === 'number') return a.value - b.value
      return a.text < b.text ? -1 : a.text > b.text ? 1 : 0
    })
    .map(({ value }) => value)
}
