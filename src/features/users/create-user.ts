// Writes a user into the directory. Nothing is sent and no token is made: the issuer knows its users by itself.

import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { conflict } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { refuseBuiltIn, unknownRole } from '../roles/index.ts'
import { changeDirectory } from './change-directory.ts'
import { isSelf, lessens, ownUser } from './own-user.ts'
import { insertUser, type UserChanges } from './repository.ts'
import type { UserRow } from './tables.ts'

export interface NewUser extends UserChanges {
  /** The `sub` of the user's tokens. */
  id: string
  tenant_id: string
}

export async function createUser(deps: Deps, caller: Caller, input: NewUser): Promise<UserRow> {
  const { clock, platformTenantId } = deps
  refuseBuiltIn(input.role)
  const now = clock.now().toISOString()
  const row: UserRow = {
    id: newId(),
    user_id: input.id,
    tenant_id: input.tenant_id,
    email: input.email ?? null,
    display_name: input.display_name ?? null,
    role: input.role ?? null,
    status: input.status ?? 'active',
    created_at: now,
    updated_at: now,
  }
  if (isSelf(caller, row, platformTenantId) && lessens(row, null)) throw ownUser()
  const inserted = await changeDirectory(deps, caller, tx => insertUser(tx, row)).catch(refuseUnknownRole)
  if (!inserted) throw conflict('user_exists', 'The tenant has a user of this id already.')
  return row
}

export function refuseUnknownRole(error: unknown): never {
  throw violatedConstraint(error) === 'users_role' ? unknownRole() : error
}
