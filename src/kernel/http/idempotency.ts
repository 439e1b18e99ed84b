// Idempotency-Key: a request that is sent again under its key gets the first one's answer instead of a second effect.
// Under a key the handler runs in one transaction, which also keeps the answer, encrypted, for a day. So there is an
// answer exactly when there is an effect, whatever becomes of the process, the connection or the caller; what nobody
// heard of is found by asking again.

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Encryption } from '../crypto.ts'
import { problemOfDatabaseError } from '../db/errors.ts'
import type { Executor } from '../db/tables.ts'
import { transaction } from '../db/transaction.ts'
import { AppError, conflict } from '../errors.ts'
import { deleteOldKeys, findKey, type KeptKey, keepAnswer, lockKey } from './idempotency-keys.ts'
import {
  type Answer,
  answerIn,
  answerOf,
  answerOfProblem,
  encrypted,
  HEADER,
  isSameRequest,
  type Keyed,
  keyedOf,
  resetReply,
  sendAnswer,
} from './kept-answer.ts'
import { problemOf, refusalOf } from './problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route honours the Idempotency-Key header: set here for every POST that writes and does not say no. */
    idempotent?: boolean
  }
  interface FastifyRequest {
    /** The transaction of a request that has a key, while its handler runs. */
    transaction: Executor | undefined
  }
}

export interface Idempotency {
  db: Executor
  seal: Encryption
  /** How long a request waits for the answer of the first one. */
  waitMs?: number
}

const WAIT_MS = 10_000
const FIRST_POLL_MS = 10
const LONGEST_POLL_MS = 250

/** Every POST that writes honours the header. Its handler takes what it writes through from `inRequest`. */
export function installIdempotency(app: FastifyInstance, parts: Idempotency): void {
  app.decorateRequest('transaction', undefined)
  app.addHook('onRoute', route => {
    const { method, config } = route
    // Keys belong to callers: strangers have none.
    if (method !== 'POST' || !config || config.storesNothing || config.guard === 'public') return
    if (config.idempotent === false) return
    route.config = { ...config, idempotent: true }
    describe(route)
    const { handler } = route
    route.handler = function (request, reply) {
      const keyed = keyedOf(request)
      if (keyed === undefined) return handler.call(this, request, reply)
      return answerOnce({
        ...parts,
        request,
        reply,
        keyed,
        work: async () => handler.call(this, request, reply),
      })
    }
  })
}

/** What a handler works through: under a key, its database is the key's transaction. */
export const inRequest = <Deps extends { db: Executor }>(deps: Deps, request: FastifyRequest): Deps =>
  request.transaction ? { ...deps, db: request.transaction } : deps

/** A piece of the housekeeping: forgets the keys that are past their day. */
export const forgetIdempotencyKeys = ({ db }: Pick<Deps, 'db'>) => ({
  what: 'idempotency keys older than 24 hours',
  run: () => deleteOldKeys(db),
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

interface Attempt extends Idempotency {
  request: FastifyRequest
  reply: FastifyReply
  keyed: Keyed
  /** The route's handler. */
  work: () => Promise<unknown>
}

type Outcome = { made: Answer } | { kept: KeptKey } | 'busy'

/** Sends the first answer, made now or before. Whoever waits for it holds no connection meanwhile. */
async function answerOnce(attempt: Attempt): Promise<FastifyReply> {
  const { reply, keyed, seal, waitMs = WAIT_MS } = attempt
  const until = performance.now() + waitMs
  let looked = false
  let waits = false
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, LONGEST_POLL_MS)) {
    let outcome: Outcome
    try {
      // Who waits looks first: a look needs no lock, in which those who wait would hinder each other.
      const kept = waits ? await findKey(attempt.db, keyed) : undefined
      outcome = kept ? { kept } : await tryOnce(attempt)
    } catch (error) {
      resetReply(reply)
      // A connection that broke does not say what was committed over it. The key does: one more attempt finds its answer.
      if (isConnectionLost(error) && !looked) {
        looked = true
        continue
      }
      if (await isAnswer(attempt, error as Error)) throw error
      outcome = 'busy'
    }
    if (outcome !== 'busy') {
      if ('made' in outcome) return sendAnswer(reply, outcome.made)
      if (!isSameRequest(seal, keyed, outcome.kept)) throw keyReused()
      if (outcome.kept.status !== null)
        return sendAnswer(reply.header('idempotency-replayed', 'true'), answerIn(seal, keyed, outcome.kept))
    }
    if (performance.now() >= until) {
      reply.header('retry-after', '1')
      throw conflict(
        'idempotency_in_progress',
        `The first request under this ${HEADER} is still being worked on. Ask again shortly.`,
      )
    }
    waits = true
    await pause(pollMs)
  }
}

/** Everything that the request does, and its answer, are committed together, by whoever holds the key's lock. */
async function tryOnce({ db, request, reply, keyed, seal, work }: Attempt): Promise<Outcome> {
  let taken = false
  const outcome = transaction(db, async (tx): Promise<Outcome> => {
    if (!(await lockKey(tx, keyed))) return 'busy'
    const kept = await findKey(tx, keyed)
    if (kept) return { kept }
    request.transaction = tx
    const payload = await work()
    if (reply.sent) throw new Error('a handler must return its answer: it is sent after the commit')
    const made = answerOf(reply, payload)
    taken = !(await keepAnswer(tx, keyed, encrypted(seal, keyed, made)))
    // Undoes what was done. Only a node of an older release, which takes no lock, can have been faster.
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
 * Whether a failure is to be told. A refusal is an answer and is kept, unless another request under the key has been
 * answered meanwhile; a fault may be tried again under the same key, and so may a race that was lost in the database.
 */
async function isAnswer({ db, request, keyed, seal }: Attempt, error: Error): Promise<boolean> {
  const refusal = refusalOf(error, request)
  if (!refusal || refusal.kind === 'unavailable' || refusal.code === 'conflict') return true
  const answer = answerOfProblem(problemOf(refusal, request.id))
  try {
    return await keepAnswer(db, keyed, encrypted(seal, keyed, answer))
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
