// Changes of a user. Nobody suspends themselves or changes their own role: whoever does it by mistake could not undo it.
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { refuseBuiltIn } from '../roles/index.ts'
import { refuseUnknownRole } from './create-user.ts'
import { isSelf } from './home-tenant.ts'
import { oneUser } from './one-user.ts'
import { lockUsers, type UserChanges, updateUser } from './repository.ts'
import type { UserRow } from './tables.ts'
import type { UsersKernel } from './users-kernel.ts'

/** A user, and its tenant where its id is not enough. */
export interface UserName {
  userId: string
  tenantId: string | undefined
}

export function changeUser(
  { db, clock, platformTenantId }: UsersKernel,
  caller: Caller,
  { userId, tenantId }: UserName,
  changes: UserChanges,
): Promise<UserRow> {
  refuseBuiltIn(changes.role)
  return transaction(db, async tx => {
    const user = oneUser(await lockUsers(tx, userId, tenantId))
    if (isSelf(caller, user, platformTenantId) && lessens(changes, user)) throw ownUser()
    return updateUser(tx, user.id, { ...changes, updated_at: clock.now().toISOString() })
  }).catch(refuseUnknownRole)
}

const lessens = ({ status, role }: UserChanges, user: UserRow): boolean =>
  status === 'suspended' || (role !== undefined && role !== user.role)

export const ownUser = () =>
  conflict(
    'own_user',
    'Nobody suspends or deletes themselves, or changes their own role: ask another platform_admin.',
  )
