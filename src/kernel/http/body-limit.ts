// How large a body a route takes: as large as its schema can need, and no larger. Reading and checking a body keeps the
// process from everything else, so one limit for all would be either too small for some or too large for most.
import type { FastifyInstance } from 'fastify'

const KIB = 1024
/** Room for indentation and for spellings nobody thought of; also what a route without a schema takes. */
export const SMALLEST_LIMIT = 16 * KIB
/** Nothing a route takes may be larger: what that costs is in bench/BODIES.md. */
export const LARGEST_LIMIT = 128 * KIB

/** Of one character: escaped as `\u00e4`, as some encoders write all that is not ASCII. */
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

/** Gives every route its limit. One whose schema sets no bound says its own, and none says more than is bearable. */
export function installBodyLimits(app: FastifyInstance): void {
  app.addHook('onRoute', route => {
    route.bodyLimit ??= limitFor(route.schema?.body)
    if (route.bodyLimit === undefined)
      throw new Error(`${route.method} ${route.url}: its body’s schema sets no bound; say bodyLimit`)
    if (route.bodyLimit > LARGEST_LIMIT)
      throw new Error(`${route.method} ${route.url} would take a body of ${route.bodyLimit} bytes`)
  })
}
