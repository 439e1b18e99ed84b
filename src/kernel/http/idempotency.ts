// Idempotency-Key: a request that is sent again under its key gets the first one's answer instead of a second effect.
// A route asks for it with `config.idempotent`; its handler knows nothing of it. What was answered is kept for a day,
// encrypted. The answer is stored after the handler's own transaction: a process that dies between the two leaves a key
// that is worked on by nobody, and after a minute the next request runs the handler again.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import { AppError, conflict, invalid } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import type { Seal } from '../sealed.ts'
import { type Caller, callerOf } from './caller.ts'
import {
  type Begun,
  deleteKey,
  deleteKeysBefore,
  findKey,
  finishKey,
  type IdempotencyKeyRow,
  insertKey,
  type Place,
  takeOver,
} from './idempotency-keys.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route honours the Idempotency-Key header. */
    idempotent?: boolean
  }
  interface FastifyRequest {
    /** The key this request is the first under. */
    idempotency: Place | undefined
  }
}

export interface Idempotency extends Pick<Kernel, 'engine' | 'db' | 'clock'> {
  seal: Seal
  /** How long a request waits for the answer of the first one. */
  patienceMs?: number
}

interface Answer {
  headers: Record<string, string>
  body: string
}

const HEADER = 'Idempotency-Key'
const KEPT_MS = 24 * 3_600_000
const DEAD_AFTER_MS = 60_000
const PATIENCE_MS = 10_000
const FIRST_LOOK_MS = 10
const LONGEST_LOOK_MS = 250
const KEPT_HEADERS = ['content-type', 'location', 'cache-control', 'link', 'retry-after']

export function installIdempotency(app: FastifyInstance, parts: Idempotency): void {
  app.decorateRequest('idempotency', undefined)
  app.addHook('onRoute', route => {
    if (!route.config?.idempotent) return
    if (route.config.guard === 'public') throw new Error(`${route.url}: strangers have no idempotency keys`)
    describe(route)
    route.preHandler = [...[route.preHandler ?? []].flat(), (request, reply) => begin(parts, request, reply)]
    route.onSend = [...[route.onSend ?? []].flat(), keep]
  })

  async function keep(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const place = request.idempotency
    if (!place) return payload
    request.idempotency = undefined
    try {
      await conclude(parts, place, reply, payload)
    } catch (error) {
      // What was asked for has been done; the caller must hear of it.
      request.log.error({ err: error }, 'the answer to an idempotent request could not be kept')
    }
    return payload
  }
}

/** A piece of the housekeeping: forgets the keys that are past their day. */
export const forgetIdempotencyKeys = ({ db, clock }: Pick<Kernel, 'db' | 'clock'>) => ({
  what: 'idempotency keys older than 24 hours',
  run: () => deleteKeysBefore(db, new Date(clock.now().getTime() - KEPT_MS).toISOString()),
})

/** In the API's description. It checks nothing: Node gives the names of headers in lower case. */
function describe({ schema }: RouteOptions): void {
  if (!schema) return
  const description =
    'A name of your choice for this request. Sent again under the same name within 24 hours, it is not done again: ' +
    'the first answer comes back, with `Idempotency-Replayed: true`. Another request under the name is 422 ' +
    '`idempotency_key_reused`; while the first is still being worked on, 409 `idempotency_in_progress`.'
  schema.headers = Type.Object({
    [HEADER]: Type.Optional(Type.String({ minLength: 1, maxLength: 255, pattern: '^[ -~]+$', description })),
  })
}

/** Lets the first request under a key through, and gives the others its answer. */
async function begin(parts: Idempotency, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const key = keyIn(request)
  if (key === undefined) return
  const place = { caller: callerHash(callerOf(request)), key, claim: randomUUID() }
  const hash = requestHash(request)
  const begun: Begun = {
    ...place,
    // Sealed, because from the bare hash of a body a short secret in it could be guessed.
    request_hash: parts.seal.seal(hash, placeOf(place)),
    started_at: parts.clock.now().toISOString(),
  }
  const row = await claimOrAnswer(parts, begun, hash)
  if (row === 'claimed') {
    request.idempotency = begun
    return
  }
  if (row !== 'in_progress') return replay(parts.seal, row, reply)
  reply.header('retry-after', '1')
  throw conflict(
    'idempotency_in_progress',
    `The first request under this ${HEADER} is still being worked on. Ask again shortly.`,
  )
}

/** The answered row of the first request, or `claimed` when this one is the first. Waits while another is working. */
async function claimOrAnswer(
  parts: Idempotency,
  begun: Begun,
  hash: string,
): Promise<IdempotencyKeyRow | 'claimed' | 'in_progress'> {
  const { engine, db, clock, seal, patienceMs = PATIENCE_MS } = parts
  const until = performance.now() + patienceMs
  for (let look = FIRST_LOOK_MS; ; look = Math.min(look * 1.5, LONGEST_LOOK_MS)) {
    if (await insertKey(db, begun)) return 'claimed'
    const row = await findKey(engine, begun.caller, begun.key)
    if (row) {
      const age = clock.now().getTime() - Date.parse(row.started_at)
      if (age >= KEPT_MS || (row.finished_at === null && age >= DEAD_AFTER_MS)) {
        if (age < KEPT_MS) refuseOther(seal, row, hash)
        if (await takeOver(db, row, begun)) return 'claimed'
        continue
      }
      refuseOther(seal, row, hash)
      if (row.finished_at !== null) return row
    }
    if (performance.now() >= until) return 'in_progress'
    await pause(look)
  }
}

function refuseOther(seal: Seal, row: IdempotencyKeyRow, hash: string): void {
  if (opened(seal, row.request_hash, row) === hash) return
  throw new AppError(
    'invalid',
    'idempotency_key_reused',
    `This ${HEADER} was used for another request: another method, path or body.`,
    { errors: [{ pointer: HEADER, message: 'was used for another request in the last 24 hours' }] },
  )
}

function replay(seal: Seal, row: IdempotencyKeyRow, reply: FastifyReply): FastifyReply {
  const answer: Answer = JSON.parse(opened(seal, row.answer!, row))
  return reply
    .code(row.status!)
    .headers(answer.headers)
    .header('idempotency-replayed', 'true')
    .send(answer.body === '' ? null : answer.body)
}

function opened(seal: Seal, sealed: string, row: IdempotencyKeyRow): string {
  try {
    return seal.open(sealed, placeOf(row))
  } catch (error) {
    throw conflict(
      'idempotency_answer_lost',
      `The answer to the first request under this ${HEADER} can no longer be read. It was done; look before you send it again under another key.`,
      { cause: error },
    )
  }
}

/**
 * A fault may be tried again under the same key, and so may a race that was lost in the database, whose answer says to;
 * any other answer is the answer.
 */
async function conclude(parts: Idempotency, place: Place, reply: FastifyReply, payload: unknown) {
  const { db, clock, seal } = parts
  const body = textOf(payload)
  const lostRace = reply.statusCode === 409 && body?.includes('"code":"conflict"')
  if (reply.statusCode >= 500 || lostRace || body === undefined) return deleteKey(db, place)
  const sent = KEPT_HEADERS.map(name => [name, reply.getHeader(name)]).filter(
    ([, value]) => value !== undefined,
  )
  const answer: Answer = { headers: Object.fromEntries(sent), body }
  await finishKey(db, place, {
    finished_at: clock.now().toISOString(),
    status: reply.statusCode,
    answer: seal.seal(JSON.stringify(answer), placeOf(place)),
  })
}

/** What a key's row is encrypted for. */
export const placeOf = ({ caller, key }: Pick<Place, 'caller' | 'key'>) => `${caller}\n${key}`

/** Undefined for what cannot be kept, a stream. */
function textOf(payload: unknown): string | undefined {
  if (payload === null || payload === undefined) return ''
  if (Buffer.isBuffer(payload)) return payload.toString('utf8')
  return typeof payload === 'string' ? payload : undefined
}

function keyIn(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw invalid(`The ${HEADER} header is not acceptable.`, [
    { pointer: HEADER, message: 'must be 1 to 255 printable ASCII characters' },
  ])
}

/**
 * Who is calling, with all that decides what they may do: an answer made for one token of a user is not given to a
 * token that may do less, nor to an API key, which may not make the keys that an answer can hold.
 */
function callerHash({ tenantId, sub, roles, via }: Caller): string {
  return sha256(JSON.stringify([tenantId, sub, [...roles].sort(), via === 'api_key']))
}

/** The order of an object's members makes no other request. */
const requestHash = ({ method, url, body }: FastifyRequest): string =>
  sha256(JSON.stringify([method, url, body ?? null], (_name, value) => inOrder(value)))

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
