// SQL of the idempotency keys. A row is written in the transaction of the request that it answers for, so it is there
// exactly when what was asked for is done. Ages are told by the database's clock, which all nodes share.
import { createHash } from 'node:crypto'
import { runStatement } from '../db/statement.ts'
import type { Executor, Row } from '../db/tables.ts'

/**
 * The release before this one claims a key before it begins: `claim` is for it alone, and `finished_at` is null while a node
 * of that release works on it.
 */
export type IdempotencyKeyRow = Row<'idempotency_keys'>

/** A request's place in the table. */
export type Place = Pick<IdempotencyKeyRow, 'caller' | 'key'>

export type KeptKey = Pick<IdempotencyKeyRow, 'request_hash' | 'status' | 'answer'>

/** An answer stands for a day. What an older release has not finished within a minute is left by a dead process. */
const STANDS = `kept.started_at > now() - case when kept.finished_at is null then interval '1 minute' else interval '24 hours' end`

const LOCK = {
  name: 'idempotency_keys_lock',
  text: 'select pg_try_advisory_xact_lock($1::bigint) as locked',
}

/** Until the transaction ends; false when another request under the key is at work, on whichever node. */
export async function lockKey(tx: Executor, { caller, key }: Place): Promise<boolean> {
  const digest = createHash('sha256').update(`idempotency key\n${caller}\n${key}`).digest()
  const rows = await runStatement<{ locked: boolean }>(tx, LOCK, [digest.readBigInt64BE().toString()])
  return rows[0]!.locked
}

const FIND = {
  name: 'idempotency_keys_find',
  text: `select request_hash, status, answer from idempotency_keys kept where caller = $1 and key = $2 and ${STANDS}`,
}

/** Asked after the lock, in a statement of its own: one that began before would not see what its last holder wrote. */
export async function findKey(executor: Executor, { caller, key }: Place): Promise<KeptKey | undefined> {
  return (await runStatement<KeptKey>(executor, FIND, [caller, key]))[0]
}

const KEEP = {
  name: 'idempotency_keys_keep',
  text: `insert into idempotency_keys as kept (caller, key, request_hash, status, answer, claim, started_at, finished_at)
    values ($1, $2, $3, $4, $5, gen_random_uuid(), now(), now())
    on conflict (caller, key) do update set request_hash = excluded.request_hash, status = excluded.status,
      answer = excluded.answer, claim = excluded.claim, started_at = excluded.started_at, finished_at = excluded.finished_at
    where not (${STANDS})
    returning key`,
}

/** False when the key has an answer that stands: the primary key is the last word. */
export async function keepAnswer(
  executor: Executor,
  { caller, key }: Place,
  { request_hash, status, answer }: KeptKey,
): Promise<boolean> {
  return (await runStatement(executor, KEEP, [caller, key, request_hash, status, answer])).length > 0
}

export async function deleteOldKeys(executor: Executor): Promise<number> {
  const text = `delete from idempotency_keys kept where not (${STANDS}) returning key`
  return (await runStatement(executor, { name: '', text }, [])).length
}
