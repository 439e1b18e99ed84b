// SQL of the roles.
import type { Executor } from '../../kernel/db/tables.ts'
import type { RoleRow } from './tables.ts'

export async function insertRole(executor: Executor, row: RoleRow): Promise<boolean> {
  const result = await executor
    .insertInto('roles')
    .values(row)
    .onConflict(conflict => conflict.column('name').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
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

export function updateRole(
  executor: Executor,
  name: string,
  changes: RoleChanges & { updated_at: string },
): Promise<RoleRow | undefined> {
  return executor.updateTable('roles').set(changes).where('name', '=', name).returningAll().executeTakeFirst()
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
  await tx.deleteFrom('roles').where('name', '=', name).execute()
}
