// The response that is stored under an Idempotency-Key: what it holds, how it is encrypted, and the SQL of its table. A row
// is written in the transaction of the request it answers for, so it exists exactly when that request took effect. Ages are
// measured by the database's clock, which all nodes share.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Encryption, encryptionFor, type SecretKeys } from '../crypto.ts'
import type { EncryptedTable } from '../crypto-rotation.ts'
import { runStatement } from '../db/statement.ts'
import type { Executor, Row } from '../db/tables.ts'
import { conflict, invalid } from '../errors.ts'
import { type Caller, callerOf } from './caller.ts'
import { PROBLEM_HEADERS, type Problem } from './problems.ts'

export const HEADER = 'Idempotency-Key'

export interface Response {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * The release before this one claims a key before it begins: `claim` is for it alone, and `finished_at` is null while a node
 * of that release works on it.
 */
export type IdempotencyKeyRow = Row<'idempotency_keys'>

type RowKey = Pick<IdempotencyKeyRow, 'caller' | 'key'>

export type StoredResponse = Pick<IdempotencyKeyRow, 'request_hash' | 'status' | 'answer'>

/** A request that carries an Idempotency-Key. */
export interface KeyedRequest extends RowKey {
  hash: string
}

const STORED_HEADERS = ['content-type', 'location', 'cache-control', 'link', 'retry-after']
const JSON_TYPE = 'application/json; charset=utf-8'

/** Undefined without the header. */
export function keyedRequestOf(request: FastifyRequest): KeyedRequest | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalid(`The ${HEADER} header is not acceptable.`, [
      { pointer: HEADER, message: 'must be 1 to 255 printable ASCII characters' },
    ])
  }
  return { caller: callerHash(callerOf(request)), key, hash: requestHash(request) }
}

/** What a handler returned and set on the reply, which is not sent yet. */
export function responseOf(reply: FastifyReply, payload: unknown): Response {
  const empty = payload === undefined || payload === null
  const body = empty ? '' : (reply.serialize(payload) as string)
  if (!empty && !reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  const headers = STORED_HEADERS.map(name => [name, reply.getHeader(name)]).filter(
    ([, value]) => value !== undefined,
  )
  return { status: reply.statusCode, headers: Object.fromEntries(headers), body }
}

export const responseOfProblem = (problem: Problem): Response => ({
  status: problem.status,
  headers: PROBLEM_HEADERS,
  body: JSON.stringify(problem),
})

export const sendResponse = (reply: FastifyReply, { status, headers, body }: Response): FastifyReply =>
  reply
    .code(status)
    .headers(headers)
    .send(body === '' ? null : body)

/** Undoes what a handler set on a reply before it failed. */
export function resetReply(reply: FastifyReply): void {
  reply.code(200)
  for (const name of STORED_HEADERS) reply.removeHeader(name)
}

export const responseEncryption = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('idempotent answers', secretKeys)

export const encryptedResponses = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'idempotency_keys',
  key: ['caller', 'key'],
  columns: ['request_hash', 'answer'],
  reencrypt: responseEncryption(secretKeys).reencrypt,
  placeOf: ({ caller, key }) => placeText({ caller: caller!, key: key! }),
})

export const encrypted = (
  encryption: Encryption,
  keyed: KeyedRequest,
  { status, ...response }: Response,
): StoredResponse => ({
  // Encrypted as well, because a short secret in a body could be guessed from the bare hash.
  request_hash: encryption.encrypt(keyed.hash, placeText(keyed)),
  status,
  answer: encryption.encrypt(JSON.stringify(response), placeText(keyed)),
})

export const isSameRequest = (encryption: Encryption, keyed: KeyedRequest, row: StoredResponse): boolean =>
  decrypted(encryption, keyed, row.request_hash) === keyed.hash

export const responseIn = (
  encryption: Encryption,
  key: RowKey,
  { status, answer }: StoredResponse,
): Response => ({
  ...JSON.parse(decrypted(encryption, key, answer!)),
  status: status!,
})

function decrypted(encryption: Encryption, key: RowKey, text: string): string {
  try {
    return encryption.decrypt(text, placeText(key))
  } catch (error) {
    throw conflict(
      'idempotency_answer_lost',
      `The answer to the first request under this ${HEADER} can no longer be read. It was done; look before you send it again under another key.`,
      { cause: error },
    )
  }
}

/** The row that a value is encrypted for. */
const placeText = ({ caller, key }: RowKey) => `${caller}\n${key}`

/**
 * Hashes everything that decides what a caller may do: a response made for one token of a user is not given to a token
 * with fewer roles, nor to an API key, which may not make the keys that a response can hold.
 */
function callerHash({ tenantId, sub, roles, via }: Caller): string {
  return sha256(JSON.stringify([tenantId, sub, [...roles].sort(), via === 'api_key']))
}

/** The order of an object's members makes no difference. */
const requestHash = ({ method, url, body }: FastifyRequest): string =>
  sha256(JSON.stringify([method, url, body ?? null], (_name, value) => inOrder(value)))

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A response is valid for a day. What an older release has not finished within a minute was left by a dead process. */
const VALID = `kept.started_at > now() - case when kept.finished_at is null then interval '1 minute' else interval '24 hours' end`

const LOCK = {
  name: 'idempotency_keys_lock',
  text: 'select pg_try_advisory_xact_lock($1::bigint) as locked',
}

/** Locks until the transaction ends; false when another request under the key is running, on whichever node. */
export async function lockKey(tx: Executor, { caller, key }: RowKey): Promise<boolean> {
  const digest = createHash('sha256').update(`idempotency key\n${caller}\n${key}`).digest()
  const rows = await runStatement<{ locked: boolean }>(tx, LOCK, [digest.readBigInt64BE().toString()])
  return rows[0]!.locked
}

const FIND = {
  name: 'idempotency_keys_find',
  text: `select request_hash, status, answer from idempotency_keys kept where caller = $1 and key = $2 and ${VALID}`,
}

/** A statement of its own after the lock: one that began before would not see what the lock's last holder wrote. */
export async function findResponse(
  executor: Executor,
  { caller, key }: RowKey,
): Promise<StoredResponse | undefined> {
  return (await runStatement<StoredResponse>(executor, FIND, [caller, key]))[0]
}

const STORE = {
  name: 'idempotency_keys_keep',
  text: `insert into idempotency_keys as kept (caller, key, request_hash, status, answer, claim, started_at, finished_at)
    values ($1, $2, $3, $4, $5, gen_random_uuid(), now(), now())
    on conflict (caller, key) do update set request_hash = excluded.request_hash, status = excluded.status,
      answer = excluded.answer, claim = excluded.claim, started_at = excluded.started_at, finished_at = excluded.finished_at
    where not (${VALID})
    returning key`,
}

/** False when the key has a valid response already. */
export async function storeResponse(
  executor: Executor,
  { caller, key }: RowKey,
  { request_hash, status, answer }: StoredResponse,
): Promise<boolean> {
  return (await runStatement(executor, STORE, [caller, key, request_hash, status, answer])).length > 0
}

export async function deleteExpiredResponses(executor: Executor): Promise<number> {
  const text = `delete from idempotency_keys kept where not (${VALID}) returning key`
  return (await runStatement(executor, { name: '', text }, [])).length
}
