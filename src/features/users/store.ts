// All SQL of the users.
import { sql } from 'kysely'
import { auditedTable, storable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Permissions } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { ownerRolesDiffer, ownerTokenSeen } from '../api-keys/index.ts'
import { User, type UserRow, type UserStatus } from './user.ts'

const USERS = auditedTable('users', { key: ['id'], silent: ['updated_at'] })
const ONCE = ['tenant_id', 'user_id'] as const

/** Undefined when the tenant has the user already. */
export async function insertUser(executor: Executor, row: UserRow): Promise<UserRow | undefined> {
  return (await USERS.insert(executor, [row], ONCE))[0]
}

/** An existing user keeps its role unless the new row has one. */
export function upsertUser(executor: Executor, row: UserRow): Promise<UserRow> {
  const { email, role, updated_at } = row
  return USERS.upsert(executor, ONCE, row, { email, role: sql`coalesce(${role}, role)`, updated_at })
}

/** Several tenants may have a user of this id. */
export function findUsers(
  executor: Executor,
  userId: string,
  tenantId: string | undefined,
): Promise<UserRow[]> {
  return named(executor, userId, tenantId).execute()
}

export function lockUsers(tx: Executor, userId: string, tenantId: string | undefined): Promise<UserRow[]> {
  return named(tx, userId, tenantId).forUpdate().execute()
}

/** Enough to list some tenants in the problem. */
const MOST_NAMESAKES = 10

const named = (executor: Executor, userId: string, tenantId: string | undefined) =>
  executor
    .selectFrom('users')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(tenantId !== undefined, query => query.where('tenant_id', '=', tenantId!))
    .orderBy('id')
    .limit(MOST_NAMESAKES)

export interface UserFilter {
  tenant_id?: string
  status?: UserStatus
  role?: string
  email?: string
}

/** Newest first. */
export const listUsers = (
  executor: Executor,
  { tenant_id, status, role, email }: UserFilter,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'users',
    select: `select u.id, ${jsonOf(User, 'u')}::text as json from users u`,
    filters: {
      tenant_id: ['u.tenant_id = ?', tenant_id],
      status: ['u.status = ?', status],
      role: ['u.role = ?', role],
      email: ['lower(u.email) = lower(?)', email],
    },
    orderBy: ['u.id'],
    descending: true,
    after,
    limit,
  })

export type UserChanges = Partial<Pick<UserRow, 'email' | 'display_name' | 'role' | 'status'>>

export async function updateUser(
  tx: Executor,
  id: string,
  changes: UserChanges & { updated_at: string },
): Promise<UserRow> {
  return (await USERS.update(tx, { id }, changes))[0]!
}

export async function removeUser(tx: Executor, id: string): Promise<void> {
  await USERS.delete(tx, { id })
}

const DIRECTORY_KEY = 4_005_021

/** Locks the directory until the transaction ends. */
export async function lockDirectory(tx: Executor): Promise<void> {
  await sql`select pg_advisory_xact_lock(${DIRECTORY_KEY})`.execute(tx)
}

export async function isSuspended(
  tx: Executor,
  userId: string,
  tenants: readonly string[],
): Promise<boolean> {
  const row = await tx
    .selectFrom('users')
    .select('id')
    .where('user_id', '=', userId)
    .where('tenant_id', 'in', tenants)
    .where('status', '=', 'suspended')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether the user's tenant has another active user. */
export async function hasOtherActive(
  tx: Executor,
  { id, tenant_id }: Pick<UserRow, 'id' | 'tenant_id'>,
): Promise<boolean> {
  const row = await tx
    .selectFrom('users')
    .select('id')
    .where('tenant_id', '=', tenant_id)
    .where('status', '=', 'active')
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export interface AccessQuery {
  userId: string
  /** Where the directory's role counts. */
  tenantId: string
  /** Where a suspension counts. */
  tenants: readonly string[]
  roles: readonly string[]
  /** All roles that the token names, valid names or not. */
  named: readonly string[]
  platformTenantId: string
  /** Our clock, not the database's: keys expire by ours. */
  now: string
}

/** What the database knows of a caller. */
export interface Known {
  suspended: boolean
  /** Permissions of the role that the user has here; null without one. */
  given: Permissions | null
  /** Those of the token's roles that are registered. */
  registered: Record<string, Permissions> | null
}

export interface FoundAccess extends Known {
  /** The newest token that all active keys of the user know of; null: it has none. */
  keys_token_at: string | null
  /** Whether they hold other roles than this token names. */
  keys_roles_differ: boolean
}

const OWNER = { userId: '$1', tenantId: '$2', platformTenantId: '$5::text' }

const ACCESS = {
  name: 'users_access',
  text: `select
    exists (select from users where tenant_id = any ($3::text[]) and user_id = $1 and status = 'suspended') as suspended,
    (select r.permissions from users u join roles r on r.name = u.role where u.tenant_id = $2 and u.user_id = $1) as given,
    (select json_object_agg(name, permissions) from roles where name = any ($4::text[])) as registered,
    (${ownerTokenSeen({ ...OWNER, now: '$6::timestamptz' })}) as keys_token_at,
    (${ownerRolesDiffer(OWNER, '$7::text[]')}) as keys_roles_differ`,
}

/** All that is known of a caller in one statement: its row and role in the directory, its roles, and its keys' state. */
export async function findAccess(
  executor: Executor,
  { userId, tenantId, tenants, roles, named, platformTenantId, now }: AccessQuery,
): Promise<FoundAccess> {
  const values = [userId, tenantId, tenants, roles, platformTenantId, now, named.map(storable)]
  const [found] = await runStatement<FoundAccess>(executor, ACCESS, values)
  return found!
}
