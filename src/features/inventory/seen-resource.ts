// What the provider showed of a resource, ready to be compared and stored. Pure.
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
}

export function seenResource(item: MappedItem): SeenResource {
  const { provider_id, name, region, status, tags, attrs } = item
  // An id is never mended: the mended one would name another resource.
  if (provider_id.includes('\0') || !provider_id.isWellFormed())
    throw new Error(`a ${item.kind} has an id that cannot be stored`)
  let content = { name, region, status, tags, attrs }
  let text = JSON.stringify(content)
  // PostgreSQL stores neither NUL nor half a surrogate pair; one odd name must not fail a whole batch.
  if (/\\u(0000|d[89a-f])/.test(text)) {
    // An escaped backslash is stepped over: the letters behind it are text that only looks like an escape.
    text = text.replaceAll(/(\\\\)|\\u(?:0000|d[89a-f][0-9a-f]{2})/g, (_, backslash) => backslash ?? '\ufffd')
    content = JSON.parse(text)
  }
  const deployment_id = deploymentOfTags(content.tags)
  return { provider_id, ...content, deployment_id, fingerprint: hash('sha1', text, 'base64') }
}

const TIE = 'deployment:'

export const deploymentTag = (deploymentId: string): string => TIE + deploymentId

/** The deployment that a tag `deployment:<id>` ties a resource to; undefined when the tags are not known. */
export function deploymentOfTags(tags: string[] | undefined): string | null | undefined {
  if (!tags) return undefined
  const ids = tags.filter(tag => tag.startsWith(TIE)).map(tag => tag.slice(TIE.length).toLowerCase())
  const [id, another] = new Set(ids)
  // Two ties contradict each other: a resource belongs to one deployment or to none.
  return id !== undefined && another === undefined && isUuid(id) ? id : null
}
