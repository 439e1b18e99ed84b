// All SQL of the roles.
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf } from '../../kernel/noun.ts'
import { Role, type RoleRow } from './role.ts'

export const ROLES = auditedTable('roles', { key: ['name'], silent: ['updated_at'] })

/** By name. */
export const listRoles = (executor: Executor, limit: number, after: Key | null): Promise<RoleRow[]> =>
  listPage(executor, {
    name: 'roles',
    select: `select ${columnsOf(Role).join(', ')} from roles`,
    orderBy: ['name'],
    after,
    limit,
  })

const roleNamed = (executor: Executor, name: string) =>
  executor.selectFrom('roles').selectAll().where('name', '=', name)

export const findRole = (executor: Executor, name: string): Promise<RoleRow | undefined> =>
  roleNamed(executor, name).executeTakeFirst()

/** Nobody is given the role until the transaction ends. */
export const lockRole = (tx: Executor, name: string): Promise<RoleRow | undefined> =>
  roleNamed(tx, name).forUpdate().executeTakeFirst()

/** Keeps the role from being deleted until the transaction ends; false when there is none. */
export const lockRoleShared = async (tx: Executor, name: string): Promise<boolean> =>
  (await roleNamed(tx, name).forKeyShare().executeTakeFirst()) !== undefined
