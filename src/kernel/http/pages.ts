// Keyset pagination: the cursor holds the sort key of the last row shown, so every page costs the same, and rows inserted
// meanwhile neither repeat nor hide others. A cursor grants nothing: the query's scope still decides.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalid } from '../errors.ts'
import { isUuid } from '../ids.ts'

export const MOST_ROWS = 500

export const PageQuery = {
  limit: Type.Integer({ minimum: 1, maximum: MOST_ROWS, default: 100, description: 'Rows on a page.' }),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: 'The `next_cursor` of the page before.' }),
  ),
}

/** The types of a sort key's parts. A cursor that does not fit is refused before it reaches a query. */
export type KeyPart = 'uuid' | 'time' | 'date' | 'text' | 'integer'
export type Key = readonly (string | number)[]

export interface Page<Row> {
  data: Row[]
  next_cursor: string | null
}

const fits: Record<KeyPart, (value: unknown) => boolean> = {
  uuid: value => typeof value === 'string' && isUuid(value),
  time: value =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
  date: value =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  text: value => typeof value === 'string' && value.length <= 512 && !value.includes('\0'),
  integer: value => Number.isSafeInteger(value),
}

/** A listing's cursor: its name keeps a cursor of one listing from being used in another. */
export function cursorOf(listing: string, parts: readonly KeyPart[]) {
  return {
    read(cursor: string | undefined): Key | null {
      if (cursor === undefined) return null
      const [name, ...key] = decode(cursor)
      if (name !== listing || key.length !== parts.length || !parts.every((part, i) => fits[part](key[i]))) {
        throw invalidCursor()
      }
      return key as Key
    },

    /**
     * `rows` holds one more than `limit` if there is a next page. Where the search for rows was broken off before, `until`
     * is the key that it had come to: the next page goes on from there.
     */
    page<Row>(rows: Row[], limit: number, keyOf: (row: Row) => Key, until: Key | null = null): Page<Row> {
      const data = rows.slice(0, limit)
      const last = data.at(-1)
      const next = rows.length > limit && last !== undefined ? keyOf(last) : until
      return { data, next_cursor: next && encode([listing, ...next]) }
    },
  }
}

const encode = (parts: Key): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

function decode(cursor: string): unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts)) return parts
  } catch {
    // Not a cursor of ours.
  }
  throw invalidCursor()
}

const invalidCursor = () =>
  invalid('The query is not acceptable.', [
    { pointer: '?cursor', message: 'is not a cursor of this listing' },
  ])

/** Adds the `Link` header to a page. */
export function withNextLink<Row>(request: FastifyRequest, reply: FastifyReply, page: Page<Row>): Page<Row> {
  if (page.next_cursor) {
    const [path, query] = request.url.split('?', 2)
    const parameters = new URLSearchParams(query)
    parameters.set('cursor', page.next_cursor)
    reply.header('link', `<${path}?${parameters}>; rel="next"`)
  }
  return page
}
