// SQL of the users.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { UserRow, UserStatus } from './tables.ts'

const USERS = auditedTable('users', { key: ['id'], silent: ['updated_at'] })
const ONCE = ['tenant_id', 'user_id'] as const

export async function insertUser(executor: Executor, row: UserRow): Promise<boolean> {
  return (await USERS.insert(executor, [row], ONCE)).length > 0
}

/** A user who is known keeps what the newcomer's row does not say. */
export function upsertUser(executor: Executor, row: UserRow): Promise<UserRow> {
  const { email, role, updated_at } = row
  return USERS.upsert(executor, ONCE, row, { email, role: sql`coalesce(${role}, role)`, updated_at })
}

/** Those of that name; more than one tenant may have one. */
export function findUsers(
  executor: Executor,
  userId: string,
  tenantId: string | undefined,
): Promise<UserRow[]> {
  return named(executor, userId, tenantId).execute()
}

/** The same, and they stay as they are until the transaction ends. */
export function lockUsers(tx: Executor, userId: string, tenantId: string | undefined): Promise<UserRow[]> {
  return named(tx, userId, tenantId).forUpdate().execute()
}

/** Enough of them to name a few tenants to whoever did not. */
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
export function listUsers(
  executor: Executor,
  { email, ...filter }: UserFilter,
  limit: number,
  before: string | null,
): Promise<UserRow[]> {
  let query = executor.selectFrom('users').selectAll()
  for (const name of ['tenant_id', 'status', 'role'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  return query
    .$if(email !== undefined, q => q.where(sql<boolean>`lower(email) = lower(${email!})`))
    .$if(before !== null, q => q.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

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

/** Until the transaction ends nobody else changes the directory. */
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

/** Whether the user's tenant has another who is let in. */
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
