// Turns what the provider returned into what the inventory stores. Pure.
// A field the answer lacks (a token without a side scope) is absent here too: missing is not a change to null.
import { attributesOf } from './attributes.ts'
import { isRecord, malformed } from './body.ts'
import { type Kind, kindEntry } from './kinds.ts'
import { idText, type RawItem } from './page.ts'
import { urnOf } from './urn.ts'

export interface MappedItem {
  provider_id: string
  kind: Kind
  /** This and the next three: absent when the answer said nothing about it. */
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

export function isInMotion(kind: Kind, item: { status?: string | null }): boolean {
  return typeof item.status === 'string' && kindEntry(kind).inMotion.includes(item.status)
}

/** The documented type is a nullable array: null says "none", only a missing field says nothing. */
function tagsOf(raw: RawItem): string[] | undefined {
  if (!Object.hasOwn(raw, 'tags') || raw.tags === undefined) return undefined
  const tags = Array.isArray(raw.tags) ? raw.tags.filter(tag => typeof tag === 'string') : []
  return [...new Set(tags)].sort()
}

/** Null when there is no such text; undefined when the answer lacks every field that could hold it. */
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
