// SQL of the API keys.
import { sql } from 'kysely'
import { auditedTable, storable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { PLATFORM_ADMIN } from '../../kernel/http/caller.ts'
import type { KeyScope, Owner } from './key-rights.ts'
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
  Pick<ApiKeyRow, 'user_id' | 'tenant_id' | 'roles' | 'owner_tenant' | 'owner_roles' | 'key_hash'>

/** Read at every request that carries a key. */
export async function findByPrefix(executor: Executor, prefix: string): Promise<PresentedKey | undefined> {
  const text = `select id, user_id, tenant_id, roles, owner_tenant, owner_roles, key_hash, last_used_at, expires_at, revoked_at
    from api_keys where key_prefix = $1`
  const [row] = await runStatement<PresentedKey>(executor, { name: 'api_keys_find_by_prefix', text }, [
    prefix,
  ])
  return row
}

const KEYS = auditedTable('api_keys', { key: ['id'], silent: ['last_used_at'], secret: ['key_hash'] })

/** False when another key has the same prefix. */
export async function insertKey(executor: Executor, row: ApiKeyRow): Promise<boolean> {
  return (await KEYS.insert(executor, [row], ['key_prefix'])).length > 0
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
  await KEYS.update(executor, { id }, { expires_at: expiresAt })
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
  const revoked = await KEYS.update(executor, query => query.where(within(scope)).where('id', '=', id), {
    revoked_at: sql`coalesce(revoked_at, ${at})`,
    revoked_by: first('revoked_by', by),
    revoked_reason: first('revoked_reason', reason),
  })
  return revoked.length > 0
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
  const ours = sql<boolean>`(tenant_id = ${tenantId} or owner_tenant = ${tenantId} or (${platform} and 'platform_admin' = any (roles)))`
  await KEYS.update(
    tx,
    query => query.where('user_id', '=', userId).where('revoked_at', 'is', null).where(ours),
    { revoked_at: at, revoked_by: by, revoked_reason: reason },
  )
}

/** Whose keys, by the user's token: `platformTenantId` is where platform_admins are at home. */
export interface TokenOwner {
  userId: string
  tenantId: string
  platformTenantId: string
}

/** Keys of a token's owner. Those of the version before do not say whose they are: a platform_admin's may name any tenant. */
const ofOwner = ({
  userId,
  tenantId,
  platformTenantId,
}: TokenOwner) => `user_id = ${userId} and revoked_at is null
  and case when owner_tenant is not null then owner_tenant = ${tenantId}
    else tenant_id = ${tenantId} or (${tenantId} = ${platformTenantId} and '${PLATFORM_ADMIN}' = any (roles)) end`

/** A part of a statement: the newest token that all living keys of its owner know of; null: there are no such keys. */
export const toldUpTo = ({ now, ...owner }: TokenOwner & { now: string }): string =>
  `select min(coalesce(owner_token_at, 'epoch')) from api_keys
  where ${ofOwner(owner)} and (expires_at is null or expires_at > ${now})`

const TELL = {
  name: 'api_keys_tell',
  text: `update api_keys set owner_tenant = $2, owner_roles = $4, owner_token_at = $5
    where ${ofOwner({ userId: '$1', tenantId: '$2', platformTenantId: '$3' })}
      and (owner_token_at is null or owner_token_at < $5)`,
}

/** The keys of a user learn what its newest token says. Of two that come at once the later one stays. */
export async function tellKeys(
  executor: Executor,
  { userId, tenantId, platformTenantId }: TokenOwner,
  roles: readonly string[],
  issuedAt: string,
): Promise<void> {
  const values = [userId, tenantId, platformTenantId, roles.map(storable), issuedAt]
  await runStatement(executor, TELL, values)
}

/** A part of a statement: whether keys of the owner know of other roles than these, as far as they matter to keys. */
export const knowOthersThan = (owner: TokenOwner, roles: string): string =>
  `select exists (select from api_keys where ${ofOwner(owner)} and ${knowsOthers(roles)})`

const knowsOthers = (roles: string) => `coalesce(owner_roles, roles) <> ${roles}
  and ('${PLATFORM_ADMIN}' = any (coalesce(owner_roles, roles)) or not '${PLATFORM_ADMIN}' = any (${roles}))`

const TELL_OF_EQUAL = {
  name: 'api_keys_tell_of_equal',
  text: `update api_keys set owner_tenant = $2, owner_roles = $4
    where ${ofOwner({ userId: '$1', tenantId: '$2', platformTenantId: '$3' })} and ${knowsOthers('$4::text[]')}
      and case when $5::timestamptz is null then '${PLATFORM_ADMIN}' = any (coalesce(owner_roles, roles))
        else owner_token_at = $5 end`,
}

/**
 * Of tokens of one second the one that is seen last counts; one that does not say when it was issued takes no more than
 * platform_admin away, for nobody knows whether it is the newest. Neither gives that back.
 */
export async function tellKeysOfEqual(
  executor: Executor,
  { userId, tenantId, platformTenantId }: TokenOwner,
  roles: readonly string[],
  issuedAt: string | undefined,
): Promise<void> {
  const values = [userId, tenantId, platformTenantId, roles.map(storable), issuedAt ?? null]
  await runStatement(executor, TELL_OF_EQUAL, values)
}

/** A newer token of the user's that another of its keys knows of. */
export function newerToken(
  tx: Executor,
  userId: string,
  { owner_tenant, owner_token_at }: Owner,
): Promise<Omit<Owner, 'owner_tenant'> | undefined> {
  return tx
    .selectFrom('api_keys')
    .select(['owner_roles', 'owner_token_at'])
    .where('user_id', '=', userId)
    .where('owner_tenant', '=', owner_tenant)
    .where('owner_token_at', '>', owner_token_at ?? 'epoch')
    .orderBy('owner_token_at', 'desc')
    .limit(1)
    .executeTakeFirst()
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
