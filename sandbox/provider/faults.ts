// Decides which faults the simulated provider can be asked for, which requests a planned one strikes, and how it is
// carried out on the wire.
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { FaultQueue, type Turns } from '../fault-queue.ts'
import { isKind, KINDS, type Kind } from '../world/kinds.ts'
import { addResource, freshId, removeResource, type World } from '../world/world.ts'
import { ApiError, type Listing, pageUrl, pathOf, queryOf, tooManyRequests } from './protocol.ts'

export type Fault =
  | { fault: 'too_many_requests'; retry_after?: 'seconds' | 'http-date' | 'none'; seconds?: number }
  /** Any other refusal, before anything is done: 500 unless said otherwise. */
  | { fault: 'server_error'; status?: number; id?: string; message?: string }
  | { fault: 'connection_reset' }
  /** Takes the request and never answers. */
  | { fault: 'stall' }
  /** The write is done, then the answer is lost. */
  | { fault: 'reset_after_commit' }
  | { fault: 'error_after_commit'; status?: number }
  | { fault: 'cut_json'; keep?: number }
  | { fault: 'html' }
  | { fault: 'empty_body' }
  | { fault: 'slow_bytes'; chunk_bytes?: number; every_ms?: number }
  /** The next link leads to the same page again, or back to the first one. */
  | { fault: 'repeat_page' }
  | { fault: 'loop_pages' }
  /** Before this page is read, an item appears in front of the listing or its first one vanishes. */
  | { fault: 'shift_pages'; change: 'insert' | 'remove' }
  | { fault: 'wrong_total'; by?: number }
  /** A listing that does not know yet of what was made last. */
  | { fault: 'stale_listing' }
  /** What a token without a side scope sees. */
  | { fault: 'missing_fields'; fields?: string[] }

export type Match = {
  method?: string
  /** A whole path without its query; `*` stands for anything. */
  path?: string
  kind?: Kind
  page?: number
}

export type FaultSpec = Fault & { match?: Match }

export const faultNames = [
  'too_many_requests',
  'server_error',
  'connection_reset',
  'stall',
  'reset_after_commit',
  'error_after_commit',
  'cut_json',
  'html',
  'empty_body',
  'slow_bytes',
  'repeat_page',
  'loop_pages',
  'shift_pages',
  'wrong_total',
  'stale_listing',
  'missing_fields',
] as const satisfies Fault['fault'][]

export type Seen = { method: string; path: string; query: URLSearchParams }

export class Faults {
  readonly #queue = new FaultQueue<FaultSpec>()

  add(spec: FaultSpec & Turns): number {
    return this.#queue.add(spec)
  }

  take(request: Seen): FaultSpec | undefined {
    return this.#queue.take(spec => strikes(spec.match ?? {}, request))
  }

  list() {
    return this.#queue.list()
  }

  clear(): void {
    this.#queue.clear()
  }
}

function strikes(match: Match, request: Seen): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== request.method) return false
  if (match.path !== undefined && !pattern(match.path).test(request.path)) return false
  if (match.kind !== undefined && !speaksOf(match.kind, request)) return false
  return match.page === undefined || match.page === Number(request.query.get('page') ?? 1)
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`)
}

function speaksOf(kind: Kind, { path, query }: Seen): boolean {
  const root = KINDS[kind].path
  if (path !== root && !path.startsWith(`${root}/`)) return false
  const gpus = query.get('type') === 'gpus'
  return kind === 'gpu_droplet' ? gpus : !(kind === 'droplet' && gpus)
}

/** The kind whose listing a request reads. */
export function listedKind({ path, query }: Seen): Kind | undefined {
  if (path === KINDS.droplet.path) return query.get('type') === 'gpus' ? 'gpu_droplet' : 'droplet'
  return (Object.keys(KINDS) as Kind[]).find(kind => KINDS[kind].path === path)
}

/** Checks what came over the wire; the message says what was wrong with it. */
export function readFault(body: unknown): (FaultSpec & Turns) | string {
  if (typeof body !== 'object' || body === null) return 'a fault is a JSON object'
  const { fault, times, after, match } = body as Record<string, unknown>
  if (!faultNames.some(name => name === fault)) return `fault must be one of: ${faultNames.join(', ')}`
  if (times !== undefined && times !== 'always' && !isCount(times)) return 'times is a number or "always"'
  if (after !== undefined && !isCount(after)) return 'after is a number'
  if (match !== undefined) {
    if (typeof match !== 'object' || match === null) return 'match is an object'
    const { kind } = match as Record<string, unknown>
    if (kind !== undefined && !(typeof kind === 'string' && isKind(kind))) return `no kind ${String(kind)}`
  }
  return body as FaultSpec & Turns
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

// Decides how each fault is carried out: before the handler (refusals, resets), on the body it returned
// (pages, totals, fields) or on the bytes that leave (cut, slow, lost).

/** Returns true when the request is over: the socket is gone, or nobody will ever answer. */
export function applyBeforeHandler(
  fault: FaultSpec,
  world: World,
  now: Date,
  request: FastifyRequest,
): boolean {
  switch (fault.fault) {
    case 'too_many_requests':
      throw tooManyRequests(retryAfter(fault, now))
    case 'server_error':
      throw new ApiError(fault.status ?? 500, fault.message ?? 'Unexpected server-side error', {
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

export function applyToBody(fault: FaultSpec, request: FastifyRequest, body: unknown): unknown {
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
export async function applyToBytes(
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
