// Changes of the directory, one at a time. What is remembered of a caller's access may be seconds old, and two requests may
// be under way at once: so each change asks again, under a lock, whether its caller is still let in. Otherwise two
// operators could suspend each other, and one who was suspended just now could undo it or suspend the other.

import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { refuseSuspended } from '../../kernel/http/access.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { tenantsOf } from './home-tenant.ts'
import { hasOtherActive, isSuspended, lockDirectory } from './repository.ts'
import type { UserRow } from './tables.ts'

export function changeDirectory<T>(
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

/**
 * An operator is an active user of the platform's tenant: that is all the directory knows of platform_admins. Somebody whose
 * token is good for an hour more must not leave the directory without one.
 */
export async function refuseLastOperator(
  tx: Executor,
  user: UserRow,
  platformTenantId: string,
): Promise<void> {
  if (user.tenant_id !== platformTenantId || user.status !== 'active') return
  if (await hasOtherActive(tx, user)) return
  throw conflict(
    'last_operator',
    'This is the last active user of the platform’s tenant: add or reinstate another there first.',
  )
}
