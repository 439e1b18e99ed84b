// What one page of a listing says: its items with their ids, the stated total, the number of the next page.
// Pure. A page that is not shaped as the provider documents it is refused with words, never half-read.
import { isRecord, malformed } from './body.ts'

export type RawItem = Record<string, unknown>

export interface Page {
  /** Those with an id. */
  items: RawItem[]
  /** As text, in the order of the items. */
  ids: string[]
  /** What is wrong with the first item that has no id to be known by; null when each has one. */
  nameless: string | null
  total: number | null
  next: number | null
}

export function readPage(body: RawItem, key: string, idField: string): Page {
  const total = statedTotal(body)
  const list = Object.hasOwn(body, key) ? body[key] : undefined
  // An explicit null beside a total of 0 is how an empty list looks when a service writes no empty arrays.
  const listed = list === null && total === 0 ? [] : list
  if (!Array.isArray(listed)) throw malformed(`the answer has no list named ${key}`)
  const items: RawItem[] = []
  const ids: string[] = []
  let nameless: string | null = null
  for (const [at, item] of listed.entries()) {
    const id = isRecord(item) ? idText(item[idField]) : null
    if (id === null) nameless ??= `item ${at + 1} of ${key} has no usable ${idField}`
    else {
      items.push(item)
      ids.push(id)
    }
  }
  return { items, ids, nameless, total, next: nextPage(body) }
}

/** An id as text; null for what could not be asked for again. */
export function idText(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value
  return Number.isSafeInteger(value) ? String(value) : null
}

/** No account has as many; what is above cannot be stored either. */
const LARGEST_TOTAL = 2_000_000_000

function statedTotal(body: RawItem): number | null {
  const total = isRecord(body.meta) ? body.meta.total : undefined
  if (total === undefined || total === null) return null
  if (!Number.isSafeInteger(total) || (total as number) < 0 || (total as number) > LARGEST_TOTAL)
    throw malformed('the stated total is not a count')
  return total as number
}

/**
 * The link is an absolute address at the provider's production host. Only the page number is taken out of
 * it: following the link itself would carry the token to wherever the answer points.
 */
function nextPage(body: RawItem): number | null {
  const pages = isRecord(body.links) ? body.links.pages : undefined
  const link = isRecord(pages) ? pages.next : undefined
  if (link === undefined || link === null || link === '') return null
  const url = typeof link === 'string' ? URL.parse(link, 'https://provider.invalid') : null
  const page = url?.searchParams.get('page') ?? ''
  if (!/^[1-9]\d{0,8}$/.test(page)) throw malformed('the link to the next page names no page')
  return Number(page)
}
