// Decides how each fault is carried out: before the handler (refusals, resets), on the body it returned
// (pages, totals, fields) or on the bytes that leave (cut, slow, lost).
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KINDS, type Kind } from '../world/kinds.ts'
import { addResource, freshId, removeResource, type World } from '../world/world.ts'
import { ProviderError, tooManyRequests } from './errors.ts'
import { type FaultSpec, listedKind } from './faults.ts'
import { type Listing, pageUrl, pathOf, queryOf } from './paging.ts'

/** Returns true when the request is over: the socket is gone, or nobody will ever answer. */
export function strikeBefore(fault: FaultSpec, world: World, now: Date, request: FastifyRequest): boolean {
  switch (fault.fault) {
    case 'too_many_requests':
      throw tooManyRequests(retryAfter(fault, now))
    case 'server_error':
      throw new ProviderError(fault.status ?? 500, fault.message ?? 'Unexpected server-side error', {
        ...(fault.id === undefined ? {} : { id: fault.id }),
      })
    case 'connection_reset':
      request.raw.socket.resetAndDestroy()
      return true
    case 'stall':
      return true
    case 'shift_pages': {
      const kind = listedKind({ method: request.method, path: pathOf(request), query: queryOf(request) })
      if (kind !== undefined) shift(world, kind, fault.change, now)
      return false
    }
    default:
      return false
  }
}

function retryAfter(fault: FaultSpec & { fault: 'too_many_requests' }, now: Date): Record<string, string> {
  const seconds = fault.seconds ?? 1
  switch (fault.retry_after ?? 'seconds') {
    case 'seconds':
      return { 'retry-after': String(seconds) }
    case 'http-date':
      return { 'retry-after': new Date(now.getTime() + seconds * 1000).toUTCString() }
    default:
      return {}
  }
}

/** What really happens between two pages: somebody makes or deletes something. */
function shift<K extends Kind>(world: World, kind: K, change: 'insert' | 'remove', now: Date): void {
  const shelf = world.shelves[kind]
  const first = shelf.at(0)
  if (first === undefined) return
  if (change === 'remove') removeResource(world, kind, shelf.idOf(first))
  else
    addResource(
      world,
      kind,
      { ...first, [KINDS[kind].idField]: freshId(world, kind) },
      { now, place: 'first' },
    )
}

export function strikeBody(fault: FaultSpec, request: FastifyRequest, body: unknown): unknown {
  const listed = body as Partial<Listing> & Record<string, unknown>
  const nextPage = (number: number) => ({
    ...listed,
    links: { pages: { ...listed.links?.pages, next: pageUrl(pathOf(request), queryOf(request), number) } },
  })
  switch (fault.fault) {
    case 'repeat_page':
      return nextPage(Number(queryOf(request).get('page') ?? 1))
    case 'loop_pages':
      return nextPage(1)
    case 'wrong_total':
      return { ...listed, meta: { ...listed.meta, total: (listed.meta?.total ?? 0) + (fault.by ?? 1) } }
    case 'stale_listing':
      return withoutNewest(listed)
    case 'missing_fields':
      return without(body, new Set(fault.fields ?? ['tags', 'image', 'volume_ids', 'vpc_uuid']))
    default:
      return body
  }
}

/** What is made is listed last. */
function withoutNewest(listed: Partial<Listing> & Record<string, unknown>): unknown {
  const [key, items] = Object.entries(listed).find(([, value]) => Array.isArray(value)) ?? []
  if (key === undefined || !Array.isArray(items) || items.length === 0) return listed
  return {
    ...listed,
    [key]: items.slice(0, -1),
    meta: { ...listed.meta, total: (listed.meta?.total ?? items.length) - 1 },
  }
}

/** Strips fields from the resources of an answer, not from its links or meta. */
function without(body: unknown, fields: ReadonlySet<string>): unknown {
  const strip = (item: unknown) =>
    typeof item === 'object' && item !== null
      ? Object.fromEntries(Object.entries(item).filter(([name]) => !fields.has(name)))
      : item
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => {
      if (key === 'links' || key === 'meta') return [key, value]
      return [key, Array.isArray(value) ? value.map(strip) : strip(value)]
    }),
  )
}

/** The bytes to send in place of these. */
export async function strikeBytes(
  fault: FaultSpec,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  switch (fault.fault) {
    case 'reset_after_commit':
      request.raw.socket.resetAndDestroy()
      return payload
    case 'error_after_commit':
      reply.code(fault.status ?? 500).type('application/json; charset=utf-8')
      return JSON.stringify({ id: 'server_error', message: 'Unexpected server-side error' })
    case 'cut_json': {
      const text = await whole(payload)
      return text.slice(0, Math.floor(text.length * (fault.keep ?? 0.5)))
    }
    case 'html':
      reply.code(200).type('text/html; charset=utf-8')
      return '<!DOCTYPE html><html><body><h1>We will be right back</h1></body></html>'
    case 'empty_body':
      reply.code(200)
      return ''
    case 'slow_bytes':
      reply.removeHeader('content-length')
      return Readable.from(slowly(await whole(payload), fault.chunk_bytes ?? 64, fault.every_ms ?? 50))
    default:
      return payload
  }
}

/** A CSV leaves as a stream: to be cut or slowed down it is read whole first. */
async function whole(payload: unknown): Promise<string> {
  if (!(payload instanceof Readable)) return String(payload ?? '')
  let text = ''
  for await (const chunk of payload) text += chunk
  return text
}

async function* slowly(text: string, chunkBytes: number, everyMs: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    if (from > 0) await wait(everyMs)
    yield bytes.subarray(from, from + chunkBytes)
  }
}
