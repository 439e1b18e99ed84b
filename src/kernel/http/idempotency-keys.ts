// SQL of the idempotency keys. Every write but the first names the claim it acts under: whoever lost it changes nothing.
import type { Engine } from '../db/engine.ts'
import type { Executor } from '../db/tables.ts'

export interface IdempotencyKeyRow {
  caller: string
  key: string
  request_hash: string
  claim: string
  started_at: string
  finished_at: string | null
  status: number | null
  answer: string | null
}

declare module '../db/tables.ts' {
  interface Tables {
    idempotency_keys: IdempotencyKeyRow
  }
}

/** A request's place in the table. */
export type Place = Pick<IdempotencyKeyRow, 'caller' | 'key' | 'claim'>
export type Begun = Place & Pick<IdempotencyKeyRow, 'request_hash' | 'started_at'>

const unfinished = { finished_at: null, status: null, answer: null }

/** False when the key is taken: the primary key decides between requests that come together. */
export async function insertKey(executor: Executor, begun: Begun): Promise<boolean> {
  const result = await executor
    .insertInto('idempotency_keys')
    .values({ ...begun, ...unfinished })
    .onConflict(conflict => conflict.columns(['caller', 'key']).doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function findKey(
  engine: Engine,
  caller: string,
  key: string,
): Promise<IdempotencyKeyRow | undefined> {
  const text = 'select * from idempotency_keys where caller = $1 and key = $2'
  const [row] = await engine.read<IdempotencyKeyRow>({ name: 'idempotency_keys_find', text }, [caller, key])
  return row
}

/** Begins the key anew in the place of a request that died or is past its day; one of several who try succeeds. */
export async function takeOver(
  executor: Executor,
  old: IdempotencyKeyRow,
  { caller, key, ...begun }: Begun,
): Promise<boolean> {
  const result = await executor
    .updateTable('idempotency_keys')
    .set({ ...begun, ...unfinished })
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('claim', '=', old.claim)
    .where('finished_at', old.finished_at === null ? 'is' : 'is not', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function finishKey(
  executor: Executor,
  { caller, key, claim }: Place,
  finished: { finished_at: string; status: number; answer: string },
): Promise<boolean> {
  const result = await executor
    .updateTable('idempotency_keys')
    .set(finished)
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('claim', '=', claim)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function deleteKey(executor: Executor, { caller, key, claim }: Place): Promise<void> {
  await executor
    .deleteFrom('idempotency_keys')
    .where('caller', '=', caller)
    .where('key', '=', key)
    .where('claim', '=', claim)
    .execute()
}

export async function deleteKeysBefore(executor: Executor, before: string): Promise<number> {
  const result = await executor
    .deleteFrom('idempotency_keys')
    .where('started_at', '<=', before)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
