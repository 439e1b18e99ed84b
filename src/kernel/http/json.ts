// JSON in and out. A request body is refused for what JSON.parse accepts but the database would not, or would misread:
// duplicate keys, lone surrogates, NUL, numbers that lose digits, deep nesting.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { malformed } from '../errors.ts'
import { type Page, withNextLink } from './pages.ts'

export const DEEPEST = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Larger bodies are parsed one in each turn of the event loop. */
const SMALL_BYTES = 16 * 1024

/** Parses bodies so that several large ones arriving together do not block the event loop in one go. */
export function bodyReader(): (body: Buffer) => Promise<unknown> {
  let turn: Promise<unknown> = Promise.resolve()
  return async body => {
    // Many clients send the content type of JSON without a body.
    if (body.length === 0) return null
    if (body.length > SMALL_BYTES) {
      turn = turn.then(() => nextTurn())
      await turn
    }
    return parseStrictJson(body)
  }
}

export function parseStrictJson(body: Buffer): unknown {
  const text = decode(body)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  inspect(text)
  return value
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw malformed('The body is not valid UTF-8.')
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const [ZERO, NINE] = [0x30, 0x39]
const [LIST, LIST_END] = [0x5b, 0x5d]
const [OBJECT, OBJECT_END] = [0x7b, 0x7d]

/**
 * Walks text that is known to be valid JSON, once, and throws on what we do not take. By character codes, and past texts
 * without an escape at once: a batch of a thousand usage events waits for this.
 */
function inspect(text: string): void {
  // For each open bracket: the keys seen so far in an object, null in an array.
  const open: (Keys | null)[] = []
  let expectsKey = false
  // Where the next escape stands; behind all when there is none.
  let escapeAt = nextEscape(text, 0)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      if (escapeAt < at) escapeAt = nextEscape(text, at)
      let end = text.indexOf('"', at + 1)
      let content: string | undefined
      if (escapeAt < end) {
        end = endOfString(text, at)
        content = escapedString(text, at, end)
      }
      if (expectsKey) noteKey(open, content ?? text.slice(at + 1, end))
      expectsKey = false
      at = end
    } else if (code === COMMA) {
      expectsKey = true
    } else if (code === OBJECT || code === LIST) {
      open.push(code === OBJECT ? [] : null)
      if (open.length > DEEPEST) throw malformed(`The body is nested more than ${DEEPEST} levels deep.`)
      expectsKey = code === OBJECT
    } else if (code === OBJECT_END || code === LIST_END) {
      open.pop()
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at)
      // Fifteen digits are always exact, and most numbers have fewer.
      if (end - at > 15 || hasExponent(text, at, end)) checkNumber(text.slice(at, end))
      at = end - 1
    }
  }
}

function nextEscape(text: string, from: number): number {
  const at = text.indexOf('\\', from)
  return at < 0 ? text.length : at
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

/** What cannot be written without an escape in JSON that is UTF-8: NUL, and half of a surrogate pair. */
function escapedString(text: string, start: number, end: number): string {
  const content: string = JSON.parse(text.slice(start, end + 1))
  if (!content.isWellFormed()) throw malformed('The body holds half of a surrogate pair.')
  if (content.includes('\0')) throw malformed('The body holds a NUL character.')
  return content
}

/** A list while they are few: most objects have few, and a set costs more to make. */
type Keys = string[] | Set<string>
const FEW_KEYS = 12

/** In an array, and outside of everything, a text is never a key. */
function noteKey(open: (Keys | null)[], key: string): void {
  const keys = open.at(-1)
  if (!keys) return
  const known = Array.isArray(keys) ? keys.includes(key) : keys.has(key)
  if (known) throw malformed(`The key ${JSON.stringify(key.slice(0, 64))} stands twice in one object.`)
  if (!Array.isArray(keys)) keys.add(key)
  else if (keys.length < FEW_KEYS) keys.push(key)
  else open[open.length - 1] = new Set([...keys, key])
}

function endOfNumber(text: string, start: number): number {
  let at = start
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at++
  return at
}

/** Digits, and `+`, `-`, `.`, `E`, `e`. */
const isOfNumber = (code: number): boolean =>
  (code >= ZERO && code <= NINE) ||
  code === 0x2b ||
  code === MINUS ||
  code === 0x2e ||
  code === 0x45 ||
  code === 0x65

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((text.charCodeAt(at) | 0x20) === 0x65) return true
  return false
}

function checkNumber(digits: string): void {
  const value = Number(digits)
  if (Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return
  throw malformed(`The number ${digits.slice(0, 40)} is larger than can be kept exactly (2^53 - 1).`)
}

const asItIs = (payload: unknown): string => payload as string

/** Sends JSON that the database wrote, without parsing it. Only the tests check it against the route's schema. */
export function jsonText(reply: FastifyReply, text: string): never {
  reply.header('content-type', 'application/json; charset=utf-8').serializer(asItIs)
  return text as never
}

/** A page of rows that carry their JSON, with its `Link`; `more`: further members of the response, as JSON text. */
export function jsonPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page<{ json: string }>,
  more = '',
): never {
  const { data, next_cursor } = withNextLink(request, reply, page)
  const items = data.map(row => row.json).join(',')
  return jsonText(reply, `{"data":[${items}],"next_cursor":${JSON.stringify(next_cursor)}${more}}`)
}

const KIB = 1024
/** Leaves room for whitespace and escapes; also the limit of a route without a schema. */
export const SMALLEST_LIMIT = 16 * KIB
/** No route may take more, but those that take things by the thousand: bench/BODIES.md shows what that costs. */
export const LARGEST_LIMIT = 128 * KIB
export const BULK_LIMIT = 512 * KIB

/** Escaped as `\u00e4`, as some encoders write everything but ASCII. */
const BYTES_OF_A_CHARACTER = 6
/** A text whose pattern or format bounds it. */
const PATTERN_CHARACTERS = 128
const BYTES_OF_A_NUMBER = 32

/** The part of JSON Schema that our bodies are written in. */
interface Schema {
  type?: string | string[]
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  maxItems?: number
  maxLength?: number
  pattern?: string
  format?: string
}

/** The bytes that the largest body of this schema takes; undefined where the schema sets no bound. */
export function bytesNeeded(schema: Schema): number | undefined {
  if (schema.anyOf) return largest(schema.anyOf.map(bytesNeeded))
  if (schema.enum) return Math.max(...schema.enum.map(value => JSON.stringify(value).length))
  if (schema.const !== undefined) return JSON.stringify(schema.const).length
  return largest([schema.type ?? []].flat().map(type => bytesOfType(type, schema)))
}

function bytesOfType(type: string, schema: Schema): number | undefined {
  switch (type) {
    case 'string':
      return bytesOfText(schema)
    case 'array': {
      const item = schema.items && bytesNeeded(schema.items)
      return item === undefined || schema.maxItems === undefined
        ? undefined
        : (item + 2) * schema.maxItems + 2
    }
    case 'object': {
      if (schema.additionalProperties !== false) return undefined
      const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
        const value = bytesNeeded(member)
        return value === undefined ? undefined : name.length + value + 6
      })
      return members.reduce(
        (sum, bytes) => (sum === undefined || bytes === undefined ? undefined : sum + bytes),
        2,
      )
    }
    default:
      return BYTES_OF_A_NUMBER
  }
}

function bytesOfText({ maxLength, pattern, format }: Schema): number | undefined {
  const bounded = pattern !== undefined || format !== undefined
  const characters = maxLength ?? (bounded ? PATTERN_CHARACTERS : undefined)
  return characters === undefined ? undefined : characters * BYTES_OF_A_CHARACTER + 2
}

const largest = (bytes: (number | undefined)[]): number | undefined =>
  bytes.some(one => one === undefined) ? undefined : Math.max(0, ...(bytes as number[]))

/** The limit for a body of this schema, in whole KiB. */
export function limitFor(schema: unknown): number | undefined {
  const needed = schema === undefined ? 0 : bytesNeeded(schema as Schema)
  return needed === undefined ? undefined : Math.max(SMALLEST_LIMIT, Math.ceil((needed * 1.25) / KIB) * KIB)
}

/**
 * Gives every route the limit that its schema needs; a route whose schema sets no bound declares `bodyLimit`. Parsing
 * blocks the process, so one limit for all would be too small for some or too large for most.
 */
export function installBodyLimits(app: FastifyInstance): void {
  app.addHook('onRoute', route => {
    route.bodyLimit ??= limitFor(route.schema?.body)
    if (route.bodyLimit === undefined)
      throw new Error(`${route.method} ${route.url}: its body’s schema sets no bound; say bodyLimit`)
    if (route.bodyLimit > LARGEST_LIMIT && route.bodyLimit !== BULK_LIMIT)
      throw new Error(`${route.method} ${route.url} would take a body of ${route.bodyLimit} bytes`)
  })
}
