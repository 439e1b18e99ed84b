// What the provider showed of a resource, ready to be compared and stored. Pure.
import { hash } from 'node:crypto'
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import { isUuid } from '../../kernel/ids.ts'
import { fitAttrs, fitTags, fitText, isStorableId, LARGEST_ATTRS, UnstorableError } from './storable.ts'

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
