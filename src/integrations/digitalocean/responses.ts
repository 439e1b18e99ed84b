// Reading the provider's responses strictly: bounded text, JSON that is really JSON, the pages of a listing, and the fields
// that callers rely on. What is not shaped as documented is refused with words, never half-read.
import { readBody } from '../../kernel/http-client.ts'
import { ProviderError } from './errors.ts'

export type RawItem = Record<string, unknown>

/** Answers up to this size are parsed as they are; larger ones are looked at for how many values they hold. */
const COUNTED_FROM_BYTES = 4 * 1024 * 1024
/** A hundred times what a full page holds. Each takes memory once parsed, however few bytes it has. */
const MOST_VALUES = 2_000_000

/**
 * The whole body as UTF-8 text; refuses to hold more than `maxBytes`, or what would be more values than a process should
 * hold. What came compressed is unfolded by then: both bounds hold for what it unfolds to.
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  let values = 0
  const { content, tooLong } = await readBody(body, maxBytes, {
    onChunk(chunk, bytesSoFar) {
      if (bytesSoFar > COUNTED_FROM_BYTES) values += separators(chunk)
      if (values > MOST_VALUES) throw malformed(`the answer holds more than ${MOST_VALUES} values`)
    },
  })
  if (tooLong) throw malformed(`the answer is larger than ${maxBytes} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    throw malformed('the answer is not UTF-8 text')
  }
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

/** Commas and opening brackets: as many as there are values, or more where texts hold some. */
function separators(chunk: Uint8Array): number {
  let count = 0
  for (const byte of chunk) if (byte === COMMA || byte === BRACKET || byte === BRACE) count++
  return count
}

/** The bytes as they come, up to so many; one more ends the reading. */
export function bounded(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let bytes = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes <= maxBytes) controller.enqueue(chunk)
        else controller.error(malformed(`the compressed answer unfolds to more than ${maxBytes} bytes`))
      },
    }),
  )
}

/** The body as a JSON object. Says which of the usual impostors it met. */
export function parseObject(text: string): Record<string, unknown> {
  if (text.trim() === '') throw malformed('the answer is empty')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const html = /^\s*</.test(text)
    throw malformed(html ? 'the answer is HTML, not JSON' : 'the answer is cut or not JSON')
  }
  if (!isRecord(value)) throw malformed('the answer is JSON but not an object')
  return value
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function malformed(message: string, mayHaveHappened = false): ProviderError {
  return new ProviderError(message, { kind: 'malformed', mayHaveHappened })
}

// The fields of a response. After a write, one without them means that the write may have happened: the caller has to
// look before it sends another.

export function objectAt(body: RawItem | null, key: string, afterWrite = false): RawItem {
  const value = body && Object.hasOwn(body, key) ? body[key] : undefined
  if (!isRecord(value)) throw malformed(`the answer has no ${key}`, afterWrite)
  return value
}

export function listAt(body: RawItem | null, key: string, afterWrite = false): RawItem[] {
  const value = body && Object.hasOwn(body, key) ? body[key] : undefined
  if (!Array.isArray(value) || !value.every(isRecord))
    throw malformed(`the answer has no list ${key}`, afterWrite)
  return value
}

export function idAt(item: RawItem, key: string, afterWrite = false): string {
  const id = idText(item[key])
  if (id === null) throw malformed(`the answer has no usable ${key}`, afterWrite)
  return id
}

export function textAt(item: RawItem, key: string): string {
  const value = item[key]
  if (typeof value !== 'string') throw malformed(`the answer has no text ${key}`)
  return value
}

/** Money as the provider writes it: a decimal number in text, kept as text. */
export function decimalAt(item: RawItem, key: string): string {
  const value = textAt(item, key)
  if (!/^-?\d{1,18}(\.\d{1,18})?$/.test(value)) throw malformed(`${key} is not a decimal number`)
  return value
}

/** A moment that can be stored. */
export function timeAt(item: RawItem, key: string): string {
  const text = textAt(item, key)
  const time = text.length <= LONGEST_TIME ? new Date(text) : new Date(Number.NaN)
  const year = time.getUTCFullYear()
  if (!(year >= 1970 && year <= 9999)) throw malformed(`${key} is not a time`)
  return time.toISOString().replace('.000Z', 'Z')
}

const LONGEST_TIME = 40

// One page of a listing: its items with their ids, the stated total, the number of the next page.

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
 * it: following the link itself would carry the token to wherever the response points.
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
