// Registers a role. From then on it holds back every caller whose token names it, if it names no other that permits more.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { isBuiltIn } from './built-in.ts'
import { inOrder } from './permissions.ts'
import { insertRole } from './repository.ts'
import type { RoleRow } from './tables.ts'

export interface NewRole {
  name: string
  description?: string | null
  permissions: string[]
}

export async function createRole({ db, clock }: Deps, input: NewRole): Promise<RoleRow> {
  const now = clock.now().toISOString()
  const row: RoleRow = {
    name: input.name,
    description: input.description ?? null,
    permissions: inOrder(input.permissions),
    created_at: now,
    updated_at: now,
  }
  if (isBuiltIn(row.name) || !(await transaction(db, tx => insertRole(tx, row)))) {
    throw conflict('role_exists', `There is a role ${row.name} already.`)
  }
  return row
}
