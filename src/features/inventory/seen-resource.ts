// What the provider showed of a resource, ready to be compared and stored, cut to what is stored of it. Pure.
import { hash } from 'node:crypto'
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import { isUuid } from '../../kernel/ids.ts'

export interface SeenResource {
  provider_id: string
  /** This and the next three: absent when the answer said nothing about it. */
  name?: string
  region?: string | null
  status?: string | null
  tags?: string[]
  attrs: Record<string, unknown>
  /** The deployment its tags tie it to; absent when the tags are not known. */
  deployment_id?: string | null
  fingerprint: string
  /** What of it is too much to be stored and was cut or left out; absent when all of it is here. */
  cut?: string[]
}

/** Throws in words of ours what cannot be stored at all. */
export function seenResource(item: MappedItem): SeenResource {
  const { provider_id, name, region, status, tags, attrs, omitted } = item
  // An id is never mended: the mended one would name another resource.
  if (!isStorableId(provider_id)) throw new UnstorableError('its id cannot be stored')
  const cut = omitted ? [...omitted] : []
  let content = {
    name: fitText(name, 'name', cut),
    region: fitText(region, 'region', cut),
    status: fitText(status, 'status', cut),
    tags: fitTags(tags, isTie, cut),
    attrs,
  }
  let text = JSON.stringify(content)
  if (text.length > LARGEST_ATTRS) {
    content.attrs = fitAttrs(attrs, cut)
    text = JSON.stringify(content)
  }
  // PostgreSQL stores neither NUL nor half a surrogate pair; one odd name must not fail a whole batch.
  if (/\\u(0000|d[89a-f])/.test(text)) {
    // An escaped backslash is stepped over: the letters behind it are text that only looks like an escape.
    text = text.replaceAll(/(\\\\)|\\u(?:0000|d[89a-f][0-9a-f]{2})/g, (_, backslash) => backslash ?? '\ufffd')
    content = JSON.parse(text)
  }
  // Of all tags, also of those that are not kept: two that contradict each other tie nothing.
  const deployment_id = deploymentOfTags(tags)
  const seen = { provider_id, ...content, deployment_id, fingerprint: hash('sha1', text, 'base64') }
  return cut.length > 0 ? { ...seen, cut } : seen
}

/** What a tag that ties a resource to a deployment begins with. */
export const TIE = 'deployment:'

/** Tags that this service lives by. */
const isTie = (tag: string): boolean => tag.startsWith(TIE) || tag.startsWith('saga:')

export const deploymentTag = (deploymentId: string): string => TIE + deploymentId

/** The deployment that a tag `deployment:<id>` ties a resource to; undefined when the tags are not known. */
export function deploymentOfTags(tags: string[] | undefined): string | null | undefined {
  if (!tags) return undefined
  const ids = tags.filter(tag => tag.startsWith(TIE)).map(tag => tag.slice(TIE.length).toLowerCase())
  const [id, another] = new Set(ids)
  // Two ties contradict each other: a resource belongs to one deployment or to none.
  return id !== undefined && another === undefined && isUuid(id) ? id : null
}

// How much of a resource is stored. The provider's own limits are far below; whatever is above them was never meant to be
// there, and must not keep the rest of a listing out of the database.

export const LONGEST_TEXT = 255
export const MOST_TAGS = 500
/** Characters of all attributes of a resource together, as JSON. */
export const LARGEST_ATTRS = 256 * 1024

/** What is wrong with a resource that cannot be stored at all, in words for whoever reads the sweep's record. */
export class UnstorableError extends Error {}

/** An id that the database can hold and find again. */
export const isStorableId = (id: string): boolean =>
  id.length <= LONGEST_TEXT && !id.includes('\0') && id.isWellFormed()

/** The text, or its beginning. */
export function fitText<T extends string | null | undefined>(text: T, field: string, cut: string[]): T {
  if (typeof text !== 'string' || text.length <= LONGEST_TEXT) return text
  cut.push(`its ${field} was cut to ${LONGEST_TEXT} characters`)
  const end = isHighSurrogate(text, LONGEST_TEXT - 1) ? LONGEST_TEXT - 1 : LONGEST_TEXT
  return text.slice(0, end) as T
}

const isHighSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800

/**
 * A cut tag would be another tag: one that is too long is left out. Of too many, those that `matters` says are kept
 * first.
 */
export function fitTags<T extends string[] | undefined>(
  tags: T,
  matters: (tag: string) => boolean,
  cut: string[],
): T {
  if (!tags || (tags.length <= MOST_TAGS && tags.every(tag => tag.length <= LONGEST_TEXT))) return tags
  const short = tags.filter(tag => tag.length <= LONGEST_TEXT)
  const kept = [...short.filter(matters), ...short.filter(tag => !matters(tag))].slice(0, MOST_TAGS)
  cut.push(`${kept.length} of its ${tags.length} tags were kept`)
  return kept.sort() as T
}

/** The largest attributes are left out until the others fit; what is known of them stays as it was. */
export function fitAttrs(attrs: Record<string, unknown>, cut: string[]): Record<string, unknown> {
  const sized = Object.entries(attrs)
    .map(([key, value]) => ({ key, value, size: key.length + (JSON.stringify(value) ?? '').length }))
    .sort((a, b) => a.size - b.size)
  let [total, kept] = [0, 0]
  while (kept < sized.length && total + sized[kept]!.size <= LARGEST_ATTRS) total += sized[kept++]!.size
  if (kept < sized.length) cut.push(`its largest attributes were left out (${sized.length - kept})`)
  const fitting = sized.slice(0, kept).sort((a, b) => (a.key < b.key ? -1 : 1))
  return Object.fromEntries(fitting.map(({ key, value }) => [key, value]))
}
