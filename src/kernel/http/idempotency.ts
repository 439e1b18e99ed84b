// Idempotency-Key: a request sent again under its key gets the first one's response instead of a second effect. With a key
// the handler runs in one transaction, which also stores the response, encrypted, for a day. So a response is stored exactly
// when the request took effect, even if the process, the connection or the client dies in between.

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import type { Encryption } from '../crypto.ts'
import { problemOfDatabaseError } from '../db/errors.ts'
import type { Executor } from '../db/tables.ts'
import { transaction } from '../db/transaction.ts'
import { AppError, conflict } from '../errors.ts'
import { problemOf, refusalOf } from './problems.ts'
import {
  deleteExpiredResponses,
  encrypted,
  findResponse,
  HEADER,
  isSameRequest,
  type KeyedRequest,
  keyedRequestOf,
  lockKey,
  type Response,
  resetReply,
  responseIn,
  responseOf,
  responseOfProblem,
  type StoredResponse,
  sendResponse,
  storeResponse,
} from './stored-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route honours the Idempotency-Key header: set for every POST that writes, unless it says false. */
    idempotent?: boolean
  }
  interface FastifyRequest {
    /** The transaction of a request with a key, while its handler runs. */
    transaction: Executor | undefined
  }
}

export interface Idempotency {
  db: Executor
  encryption: Encryption
  /** How long a request waits for the response of the first one. */
  waitMs?: number
}

const WAIT_MS = 10_000
const FIRST_POLL_MS = 10
const LONGEST_POLL_MS = 250

/** Every POST that writes honours the header. Its handler must write through `inRequest`. */
export function installIdempotency(app: FastifyInstance, parts: Idempotency): void {
  app.decorateRequest('transaction', undefined)
  app.addHook('onRoute', route => {
    const { method, config } = route
    // Keys belong to callers: a public route has none.
    if (method !== 'POST' || !config || config.storesNothing || config.guard === 'public') return
    if (config.idempotent === false) return
    route.config = { ...config, idempotent: true }
    describe(route)
    const { handler } = route
    route.handler = function (request, reply) {
      const keyed = keyedRequestOf(request)
      if (keyed === undefined) return handler.call(this, request, reply)
      return respondOnce({
        ...parts,
        request,
        reply,
        keyed,
        work: async () => handler.call(this, request, reply),
      })
    }
  })
}

/** The handler's dependencies: with a key, `db` is the key's transaction. */
export const inRequest = <Deps extends { db: Executor }>(deps: Deps, request: FastifyRequest): Deps =>
  request.transaction ? { ...deps, db: request.transaction } : deps

/** A housekeeping task. */
export const deleteIdempotencyKeys = ({ db }: { db: Executor }) => ({
  what: 'idempotency keys older than 24 hours',
  run: () => deleteExpiredResponses(db),
})

/** For the API description only. It validates nothing: Node gives header names in lower case. */
function describe({ schema }: RouteOptions): void {
  if (schema) schema.headers = Headers
}

const Headers = Type.Object({
  [HEADER]: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[ -~]+$',
      description:
        'A name of your choice for this request. Sent again under the same name within 24 hours, it is not done again: ' +
        'the first answer comes back, with `Idempotency-Replayed: true`. Another request under the name is 422 ' +
        '`idempotency_key_reused`; while the first is still being worked on, 409 `idempotency_in_progress`.',
    }),
  ),
})

interface Attempt extends Idempotency {
  request: FastifyRequest
  reply: FastifyReply
  keyed: KeyedRequest
  /** The route's handler. */
  work: () => Promise<unknown>
}

type Outcome = { made: Response } | { stored: StoredResponse } | 'busy'

/** Sends the first request's response, made now or stored before. Waiting for it holds no connection. */
async function respondOnce(attempt: Attempt): Promise<FastifyReply> {
  const { reply, keyed, encryption, waitMs = WAIT_MS } = attempt
  const until = performance.now() + waitMs
  let retried = false
  let waiting = false
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, LONGEST_POLL_MS)) {
    let outcome: Outcome
    try {
      // Those who wait read first: reading needs no lock, for which they would compete.
      const stored = waiting ? await findResponse(attempt.db, keyed) : undefined
      outcome = stored ? { stored } : await tryOnce(attempt)
    } catch (error) {
      resetReply(reply)
      // After a broken connection nobody knows what was committed. One more attempt finds the response if it was.
      if (isConnectionLost(error) && !retried) {
        retried = true
        continue
      }
      if (await isFinal(attempt, error as Error)) throw error
      outcome = 'busy'
    }
    if (outcome !== 'busy') {
      if ('made' in outcome) return sendResponse(reply, outcome.made)
      if (!isSameRequest(encryption, keyed, outcome.stored)) throw keyReused()
      if (outcome.stored.status !== null)
        return sendResponse(
          reply.header('idempotency-replayed', 'true'),
          responseIn(encryption, keyed, outcome.stored),
        )
    }
    if (performance.now() >= until) {
      reply.header('retry-after', '1')
      throw conflict(
        'idempotency_in_progress',
        `The first request under this ${HEADER} is still being worked on. Ask again shortly.`,
      )
    }
    waiting = true
    await pause(pollMs)
  }
}

/** Under the key's lock, commits the request's effect and its response together. */
async function tryOnce({ db, request, reply, keyed, encryption, work }: Attempt): Promise<Outcome> {
  let taken = false
  const outcome = transaction(db, async (tx): Promise<Outcome> => {
    if (!(await lockKey(tx, keyed))) return 'busy'
    const stored = await findResponse(tx, keyed)
    if (stored) return { stored }
    request.transaction = tx
    const payload = await work()
    if (reply.sent) throw new Error('a handler must return its response: it is sent after the commit')
    const made = responseOf(reply, payload)
    taken = !(await storeResponse(tx, keyed, encrypted(encryption, keyed, made)))
    // Rolls back. Only a node of an older release, which takes no lock, can have been faster.
    if (taken) throw new Error('the key is taken')
    return { made }
  })
  return outcome
    .catch(error => {
      if (taken) return 'busy' as const
      throw error
    })
    .finally(() => {
      request.transaction = undefined
    })
}

/**
 * Whether to send a failure to the client. A refusal is stored, unless another request under the key was answered
 * meanwhile. A fault is not stored, nor is a race lost in the database: both may be tried again under the same key.
 */
async function isFinal({ db, request, keyed, encryption }: Attempt, error: Error): Promise<boolean> {
  const refusal = refusalOf(error, request)
  if (!refusal || refusal.kind === 'unavailable' || refusal.code === 'conflict') return true
  const response = responseOfProblem(problemOf(refusal, request.id))
  try {
    return await storeResponse(db, keyed, encrypted(encryption, keyed, response))
  } catch (failure) {
    request.log.error({ err: failure }, 'the answer to an idempotent request could not be kept')
    return true
  }
}

const isConnectionLost = (error: unknown): boolean => problemOfDatabaseError(error)?.kind === 'unavailable'

const keyReused = () =>
  new AppError(
    'invalid',
    'idempotency_key_reused',
    `This ${HEADER} was used for another request: another method, path or body.`,
    { errors: [{ pointer: HEADER, message: 'was used for another request in the last 24 hours' }] },
  )
