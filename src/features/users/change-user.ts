// Changes of a user: what it is called, which role holds it back, and whether it is let in at all.
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { refuseBuiltIn } from '../roles/index.ts'
import { changeDirectory, refuseLastOperator } from './change-directory.ts'
import { refuseUnknownRole } from './create-user.ts'
import { oneUser } from './one-user.ts'
import { isSelf, lessens, ownUser } from './own-user.ts'
import { lockUsers, type UserChanges, updateUser } from './repository.ts'
import type { UserRow } from './tables.ts'

/** A user, and its tenant where its id is not enough. */
export interface UserName {
  userId: string
  tenantId: string | undefined
}

export function changeUser(
  deps: Deps,
  caller: Caller,
  { userId, tenantId }: UserName,
  changes: UserChanges,
): Promise<UserRow> {
  const { clock, platformTenantId } = deps
  refuseBuiltIn(changes.role)
  return changeDirectory(deps, caller, async tx => {
    const user = oneUser(await lockUsers(tx, userId, tenantId))
    if (isSelf(caller, user, platformTenantId) && lessens(changes, user.role)) throw ownUser()
    if (changes.status === 'suspended') await refuseLastOperator(tx, user, platformTenantId)
    return updateUser(tx, user.id, { ...changes, updated_at: clock.now().toISOString() })
  }).catch(refuseUnknownRole)
}
