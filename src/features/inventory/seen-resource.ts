// What the provider showed of a resource, ready to be compared and stored. Pure.
import { hash } from 'node:crypto'
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import { isUuid } from '../../kernel/ids.ts'

export interface SeenResource {
  provider_id: string
  name: string
  region: string | null
  status: string | null
  /** Absent when the answer said nothing about tags. */
  tags?: string[]
  attrs: Record<string, unknown>
  /** The deployment its tags tie it to; absent when the tags are not known. */
  deployment_id?: string | null
  fingerprint: string
}

export function seenResource(item: MappedItem): SeenResource {
  const { provider_id, name, region, status, tags, attrs } = item
  let content = { name, region, status, tags, attrs }
  let text = JSON.stringify(content)
  // PostgreSQL stores neither NUL nor half a surrogate pair; one odd name must not fail a whole batch.
  if (/\\u(0000|d[89a-f])/i.test(text)) {
    text = text.replaceAll(/\\u(0000|d[89a-f][0-9a-f]{2})/gi, '\ufffd')
    content = JSON.parse(text)
  }
  const deployment_id = deploymentOfTags(content.tags)
  return { provider_id, ...content, deployment_id, fingerprint: hash('sha1', text, 'base64') }
}

const TIE = 'deployment:'

/** The deployment that a tag `deployment:<id>` ties a resource to; undefined when the tags are not known. */
export function deploymentOfTags(tags: string[] | undefined): string | null | undefined {
  if (!tags) return undefined
  const ids = tags.filter(tag => tag.startsWith(TIE)).map(tag => tag.slice(TIE.length).toLowerCase())
  // Two ties contradict each other: a resource belongs to one deployment or to none.
  return ids.length === 1 && isUuid(ids[0]!) ? ids[0]! : null
}
