// What a role permits changes for everybody who has it, at once.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { isBuiltIn } from './built-in.ts'
import { inOrder } from './permissions.ts'
import { type RoleChanges, updateRole } from './repository.ts'
import type { RoleRow } from './tables.ts'

export async function changeRole(
  { db, clock }: Deps,
  name: string,
  { permissions, ...changes }: RoleChanges,
): Promise<RoleRow> {
  refuseChangeOfBuiltIn(name)
  const values = {
    ...changes,
    ...(permissions && { permissions: inOrder(permissions) }),
    updated_at: clock.now().toISOString(),
  }
  const row = await transaction(db, tx => updateRole(tx, name, values))
  if (!row) throw notFound()
  return row
}

export function refuseChangeOfBuiltIn(name: string): void {
  if (isBuiltIn(name))
    throw conflict('role_built_in', 'This role is built in: it is neither changed nor deleted.')
}
