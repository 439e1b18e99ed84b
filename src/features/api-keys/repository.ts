// SQL of the API keys.
import { sql } from 'kysely'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { PLATFORM_ADMIN } from '../../kernel/http/caller.ts'
import type { KeyScope } from './key-rights.ts'
import type { ApiKeyRow } from './tables.ts'

const SHOWN = [
  'id',
  'key_prefix',
  'description',
  'created_at',
  'last_used_at',
  'expires_at',
  'revoked_at',
] as const
export type ShownKey = Pick<ApiKeyRow, (typeof SHOWN)[number]>

export type PresentedKey = Omit<ShownKey, 'description' | 'key_prefix' | 'created_at'> &
  Pick<ApiKeyRow, 'user_id' | 'tenant_id' | 'roles' | 'key_hash'>

/** Read at every request that carries a key. */
export async function findByPrefix(executor: Executor, prefix: string): Promise<PresentedKey | undefined> {
  const text = `select id, user_id, tenant_id, roles, key_hash, last_used_at, expires_at, revoked_at
    from api_keys where key_prefix = $1`
  const [row] = await runStatement<PresentedKey>(executor, { name: 'api_keys_find_by_prefix', text }, [
    prefix,
  ])
  return row
}

/** False when another key has the same prefix. */
export async function insertKey(executor: Executor, row: ApiKeyRow): Promise<boolean> {
  const result = await executor
    .insertInto('api_keys')
    .values(row)
    .onConflict(conflict => conflict.column('key_prefix').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** The condition that keeps a query to the keys of a scope; every query that a caller asks for carries it. */
const within = (scope: KeyScope) =>
  scope.allTenants
    ? sql<boolean>`user_id = ${scope.userId}`
    : sql<boolean>`user_id = ${scope.userId} and tenant_id = ${scope.tenantId} and ${PLATFORM_ADMIN} <> all (roles)`

/** Newest first. */
export function listKeys(
  executor: Executor,
  scope: KeyScope,
  limit: number,
  before: string | null,
): Promise<ShownKey[]> {
  return executor
    .selectFrom('api_keys')
    .select(SHOWN)
    .where(within(scope))
    .$if(before !== null, query => query.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findKey(executor: Executor, scope: KeyScope, id: string): Promise<ShownKey | undefined> {
  return executor
    .selectFrom('api_keys')
    .select(SHOWN)
    .where(within(scope))
    .where('id', '=', id)
    .executeTakeFirst()
}

export function lockKey(executor: Executor, scope: KeyScope, id: string): Promise<ApiKeyRow | undefined> {
  return executor
    .selectFrom('api_keys')
    .selectAll()
    .where(within(scope))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export async function findReplacement(executor: Executor, id: string): Promise<string | undefined> {
  const row = await executor.selectFrom('api_keys').select('id').where('replaces', '=', id).executeTakeFirst()
  return row?.id
}

export async function setExpiry(executor: Executor, id: string, expiresAt: string): Promise<void> {
  await executor.updateTable('api_keys').set({ expires_at: expiresAt }).where('id', '=', id).execute()
}

/** A revocation that stands keeps its time, author and reason. False when there is no such key. */
export async function revokeKey(
  executor: Executor,
  scope: KeyScope,
  id: string,
  { at, by, reason }: { at: string; by: string; reason: string | null },
): Promise<boolean> {
  const first = <T>(column: string, value: T) =>
    sql<T>`case when revoked_at is null then ${value} else ${sql.ref(column)} end`
  const result = await executor
    .updateTable('api_keys')
    .set({
      revoked_at: sql`coalesce(revoked_at, ${at})`,
      revoked_by: first('revoked_by', by),
      revoked_reason: first('revoked_reason', reason),
    })
    .where(within(scope))
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Whose keys: a user of a tenant. One of the platform's also has those that are a platform_admin's, in any tenant or none. */
export interface KeyOwner {
  userId: string
  tenantId: string
  platform: boolean
}

/** Every key of a user that is not revoked already. */
export async function revokeKeysOf(
  tx: Executor,
  { userId, tenantId, platform }: KeyOwner,
  { at, by, reason }: { at: string; by: string; reason: string },
): Promise<void> {
  const ours = sql<boolean>`(tenant_id = ${tenantId} or (${platform} and 'platform_admin' = any (roles)))`
  await tx
    .updateTable('api_keys')
    .set({ revoked_at: at, revoked_by: by, revoked_reason: reason })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where(ours)
    .execute()
}

/** Writes the time of use unless one has been written since `unlessSince`. */
export async function touchKey(
  executor: Executor,
  id: string,
  at: string,
  unlessSince: string,
): Promise<void> {
  await executor
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', '=', id)
    .where(eb => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', unlessSince)]))
    .execute()
}
