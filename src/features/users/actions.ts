// Changes of the directory of users. Nothing is sent and no token is made: the issuer knows its users by itself.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { type Caller, refuseSuspended, tenantsOf } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { revokeKeysOf } from '../api-keys/index.ts'
import { refuseBuiltIn, unknownRole } from '../roles/index.ts'
import {
  hasOtherActive,
  insertUser,
  isSuspended,
  lockDirectory,
  lockUsers,
  removeUser,
  type UserChanges,
  updateUser,
} from './store.ts'
import { isSelf, lessens, oneUser, ownUser, type UserRow } from './user.ts'

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
  return inserted
}

function refuseUnknownRole(error: unknown): never {
  throw violatedConstraint(error) === 'users_role' ? unknownRole() : error
}

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

/**
 * Removes the user from the directory and revokes its API keys. Its tokens are the issuer's and stay valid until they
 * expire, as those of any caller who is not in the directory: to keep somebody out, suspend them.
 */
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

/**
 * Changes run one at a time, and each checks again, under a lock, that its caller is not suspended: the cached access may be
 * seconds old. Otherwise two operators could suspend each other, or one who was just suspended could undo it.
 */
function changeDirectory<T>(
  { db, platformTenantId }: Pick<Deps, 'db' | 'platformTenantId'>,
  caller: Caller,
  change: (tx: Executor) => Promise<T>,
): Promise<T> {
  return transaction(db, async tx => {
    await lockDirectory(tx)
    const suspended = await isSuspended(tx, caller.sub, tenantsOf(caller, platformTenantId))
    refuseSuspended({ suspended })
    return change(tx)
  })
}

/** An active user of the platform's tenant is all that the directory knows of platform_admins: one must remain. */
async function refuseLastOperator(tx: Executor, user: UserRow, platformTenantId: string): Promise<void> {
  if (user.tenant_id !== platformTenantId || user.status !== 'active') return
  if (await hasOtherActive(tx, user)) return
  throw conflict(
    'last_operator',
    'This is the last active user of the platform’s tenant: add or reinstate another there first.',
  )
}
