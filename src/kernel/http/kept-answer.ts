// The answer that is kept under an Idempotency-Key: what of a reply it holds, how it is encrypted, how it is sent.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Encryption } from '../crypto.ts'
import { conflict, invalid } from '../errors.ts'
import { type Caller, callerOf } from './caller.ts'
import type { KeptKey, Place } from './idempotency-keys.ts'
import { PROBLEM_HEADERS, type Problem } from './problems.ts'

export const HEADER = 'Idempotency-Key'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

/** A request under a key: the place of its answer, and which request it is. */
export interface Keyed extends Place {
  hash: string
}

const KEPT_HEADERS = ['content-type', 'location', 'cache-control', 'link', 'retry-after']
const JSON_TYPE = 'application/json; charset=utf-8'

/** Undefined without the header. */
export function keyedOf(request: FastifyRequest): Keyed | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalid(`The ${HEADER} header is not acceptable.`, [
      { pointer: HEADER, message: 'must be 1 to 255 printable ASCII characters' },
    ])
  }
  return { caller: callerHash(callerOf(request)), key, hash: requestHash(request) }
}

/** What a handler has made of the reply, in words that can be kept; the reply is not sent. */
export function answerOf(reply: FastifyReply, payload: unknown): Answer {
  const empty = payload === undefined || payload === null
  const body = empty ? '' : (reply.serialize(payload) as string)
  if (!empty && !reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  const kept = KEPT_HEADERS.map(name => [name, reply.getHeader(name)]).filter(
    ([, value]) => value !== undefined,
  )
  return { status: reply.statusCode, headers: Object.fromEntries(kept), body }
}

export const answerOfProblem = (problem: Problem): Answer => ({
  status: problem.status,
  headers: PROBLEM_HEADERS,
  body: JSON.stringify(problem),
})

export const sendAnswer = (reply: FastifyReply, { status, headers, body }: Answer): FastifyReply =>
  reply
    .code(status)
    .headers(headers)
    .send(body === '' ? null : body)

/** Takes back what a handler has said in a reply before it failed. */
export function resetReply(reply: FastifyReply): void {
  reply.code(200)
  for (const name of KEPT_HEADERS) reply.removeHeader(name)
}

export const encrypted = (seal: Encryption, keyed: Keyed, { status, ...answer }: Answer): KeptKey => ({
  // Encrypted as well, because from the bare hash of a body a short secret in it could be guessed.
  request_hash: seal.encrypt(keyed.hash, placeText(keyed)),
  status,
  answer: seal.encrypt(JSON.stringify(answer), placeText(keyed)),
})

export const isSameRequest = (seal: Encryption, keyed: Keyed, row: KeptKey): boolean =>
  decrypted(seal, keyed, row.request_hash) === keyed.hash

export const answerIn = (seal: Encryption, place: Place, { status, answer }: KeptKey): Answer => ({
  ...JSON.parse(decrypted(seal, place, answer!)),
  status: status!,
})

function decrypted(seal: Encryption, place: Place, text: string): string {
  try {
    return seal.decrypt(text, placeText(place))
  } catch (error) {
    throw conflict(
      'idempotency_answer_lost',
      `The answer to the first request under this ${HEADER} can no longer be read. It was done; look before you send it again under another key.`,
      { cause: error },
    )
  }
}

/** What a key's row is encrypted for. */
export const placeText = ({ caller, key }: Place) => `${caller}\n${key}`

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
