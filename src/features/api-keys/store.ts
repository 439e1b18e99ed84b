// All SQL of the API keys.
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { auditedTable, storable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { PLATFORM_ADMIN } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf } from '../../kernel/noun.ts'
import { type ApiKeyRow, type KeyScope, type Owner, StoredApiKey } from './api-key.ts'

export type ShownKey = Static<typeof StoredApiKey>

const PRESENTED = [
  'id',
  'user_id',
  'tenant_id',
  'roles',
  'owner_tenant',
  'owner_roles',
  'key_hash',
  'last_used_at',
  'expires_at',
  'revoked_at',
] as const
export type PresentedKey = Pick<ApiKeyRow, (typeof PRESENTED)[number]>

/** Read at every request that carries a key. */
export async function findByPrefix(executor: Executor, prefix: string): Promise<PresentedKey | undefined> {
  const text = `select ${PRESENTED.join(', ')} from api_keys where key_prefix = $1`
  const [row] = await runStatement<PresentedKey>(executor, { name: 'api_keys_find_by_prefix', text }, [
    prefix,
  ])
  return row
}

const KEYS = auditedTable('api_keys', { key: ['id'], silent: ['last_used_at'], secret: ['key_hash'] })

/** Undefined when another key has the same prefix. */
export async function insertKey(executor: Executor, row: ApiKeyRow): Promise<ApiKeyRow | undefined> {
  return (await KEYS.insert(executor, [row], ['key_prefix']))[0]
}

/** Every query on behalf of a caller carries this condition. */
const within = (scope: KeyScope) =>
  scope.allTenants
    ? sql<boolean>`user_id = ${scope.userId}`
    : sql<boolean>`user_id = ${scope.userId} and tenant_id = ${scope.tenantId} and ${PLATFORM_ADMIN} <> all (roles)`

/** Newest first. */
export const listKeys = (
  executor: Executor,
  scope: KeyScope,
  limit: number,
  after: Key | null,
): Promise<ShownKey[]> =>
  listPage(executor, {
    name: 'api_keys',
    select: `select ${columnsOf(StoredApiKey).join(', ')} from api_keys`,
    filters: {
      user: ['user_id = ?', scope.userId],
      tenant: [
        `(tenant_id = ? and '${PLATFORM_ADMIN}' <> all (roles))`,
        scope.allTenants ? undefined : scope.tenantId,
      ],
    },
    orderBy: ['id'],
    descending: true,
    after,
    limit,
  })

export const findKey = (executor: Executor, scope: KeyScope, id: string): Promise<ShownKey | undefined> =>
  executor
    .selectFrom('api_keys')
    .select(columnsOf(StoredApiKey))
    .where(within(scope))
    .where('id', '=', id)
    .executeTakeFirst()

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

/** The first revocation keeps its time, author and reason. False when there is no such key. */
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

/** SQL: keys of a token's owner. Older ones do not say whose they are: a platform_admin's may name any tenant. */
const ofOwner = ({
  userId,
  tenantId,
  platformTenantId,
}: TokenOwner) => `user_id = ${userId} and revoked_at is null
  and case when owner_tenant is not null then owner_tenant = ${tenantId}
    else tenant_id = ${tenantId} or (${tenantId} = ${platformTenantId} and '${PLATFORM_ADMIN}' = any (roles)) end`

/** SQL: the newest token that all active keys of its owner know of; null: there are no such keys. */
export const ownerTokenSeen = ({ now, ...owner }: TokenOwner & { now: string }): string =>
  `select min(coalesce(owner_token_at, 'epoch')) from api_keys
  where ${ofOwner(owner)} and (expires_at is null or expires_at > ${now})`

const UPDATE_OWNER_ROLES = {
  name: 'api_keys_update_owner_roles',
  text: `update api_keys set owner_tenant = $2, owner_roles = $4, owner_token_at = $5
    where ${ofOwner({ userId: '$1', tenantId: '$2', platformTenantId: '$3' })}
      and (owner_token_at is null or owner_token_at < $5)`,
}

/** Writes the roles of a user's newest token into its keys. Of two at once the later token wins. */
export async function updateOwnerRoles(
  executor: Executor,
  { userId, tenantId, platformTenantId }: TokenOwner,
  roles: readonly string[],
  issuedAt: string,
): Promise<void> {
  const values = [userId, tenantId, platformTenantId, roles.map(storable), issuedAt]
  await runStatement(executor, UPDATE_OWNER_ROLES, values)
}

/** SQL: whether keys of the owner hold other roles than these, as far as it matters to keys. */
export const ownerRolesDiffer = (owner: TokenOwner, roles: string): string =>
  `select exists (select from api_keys where ${ofOwner(owner)} and ${rolesDiffer(roles)})`

const rolesDiffer = (roles: string) => `coalesce(owner_roles, roles) <> ${roles}
  and ('${PLATFORM_ADMIN}' = any (coalesce(owner_roles, roles)) or not '${PLATFORM_ADMIN}' = any (${roles}))`

const CORRECT_OWNER_ROLES = {
  name: 'api_keys_correct_owner_roles',
  text: `update api_keys set owner_tenant = $2, owner_roles = $4
    where ${ofOwner({ userId: '$1', tenantId: '$2', platformTenantId: '$3' })} and ${rolesDiffer('$4::text[]')}
      and case when $5::timestamptz is null then '${PLATFORM_ADMIN}' = any (coalesce(owner_roles, roles))
        else owner_token_at = $5 end`,
}

/**
 * For a token that is not newer. Of tokens issued in one second the last one seen wins; one without a time of issue may
 * only take platform_admin away, because nobody knows whether it is the newest. Neither gives that back.
 */
export async function correctOwnerRoles(
  executor: Executor,
  { userId, tenantId, platformTenantId }: TokenOwner,
  roles: readonly string[],
  issuedAt: string | undefined,
): Promise<void> {
  const values = [userId, tenantId, platformTenantId, roles.map(storable), issuedAt ?? null]
  await runStatement(executor, CORRECT_OWNER_ROLES, values)
}

/** The newest token that another key of the user knows of, if newer. */
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
