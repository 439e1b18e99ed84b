// A user who is deleted leaves the directory, and its API keys are revoked with it. Its tokens are the issuer's: they are
// good until they expire, as those of any caller who is not in the directory. To keep somebody out, suspend them.
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { revokeKeysOf } from '../api-keys/index.ts'
import { changeDirectory } from './change-directory.ts'
import type { UserName } from './change-user.ts'
import { oneUser } from './one-user.ts'
import { isSelf, ownUser } from './own-user.ts'
import { lockUsers, removeUser } from './repository.ts'

export function deleteUser(deps: Deps, caller: Caller, { userId, tenantId }: UserName): Promise<void> {
  const { clock, platformTenantId } = deps
  return changeDirectory(deps, caller, async tx => {
    const user = oneUser(await lockUsers(tx, userId, tenantId))
    if (isSelf(caller, user, platformTenantId)) throw ownUser()
    await removeUser(tx, user.id)
    const owner = { userId, tenantId: user.tenant_id, platform: user.tenant_id === platformTenantId }
    const revocation = { at: clock.now().toISOString(), by: caller.sub, reason: 'The user was deleted.' }
    await revokeKeysOf(tx, owner, revocation)
  })
}
