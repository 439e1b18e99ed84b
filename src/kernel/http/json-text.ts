// Answers that the database wrote as JSON: passed on as they are, where a serializer would parse and write them again.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Page, withNextLink } from './pagination.ts'

const asItIs = (payload: unknown): string => payload as string

/** The text stands for the value that the route's schema describes; nothing checks that but the tests. */
export function jsonText(reply: FastifyReply, text: string): never {
  reply.header('content-type', 'application/json; charset=utf-8').serializer(asItIs)
  return text as never
}

/** A page of rows that carry their JSON, with its `Link`; `more` are further members of the answer, as they are written. */
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
