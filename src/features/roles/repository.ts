// SQL of the roles.
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { RoleRow } from './tables.ts'

const ROLES = auditedTable('roles', { key: ['name'], silent: ['updated_at'] })

export async function insertRole(executor: Executor, row: RoleRow): Promise<boolean> {
  return (await ROLES.insert(executor, [row], ['name'])).length > 0
}

export function listRoles(executor: Executor, limit: number, after: string): Promise<RoleRow[]> {
  return executor
    .selectFrom('roles')
    .selectAll()
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit)
    .execute()
}

export function findRole(executor: Executor, name: string): Promise<RoleRow | undefined> {
  return executor.selectFrom('roles').selectAll().where('name', '=', name).executeTakeFirst()
}

export type RoleChanges = Partial<Pick<RoleRow, 'description' | 'permissions'>>

export async function updateRole(
  executor: Executor,
  name: string,
  changes: RoleChanges & { updated_at: string },
): Promise<RoleRow | undefined> {
  return (await ROLES.update(executor, { name }, changes))[0]
}

/** Nobody is given the role until the transaction ends. */
export function lockRole(tx: Executor, name: string): Promise<RoleRow | undefined> {
  return tx.selectFrom('roles').selectAll().where('name', '=', name).forUpdate().executeTakeFirst()
}

/** Keeps the role from being deleted until the transaction ends; false when there is none. */
export async function holdRole(tx: Executor, name: string): Promise<boolean> {
  const row = await tx
    .selectFrom('roles')
    .select('name')
    .where('name', '=', name)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

export async function removeRole(tx: Executor, name: string): Promise<void> {
  await ROLES.delete(tx, { name })
}
