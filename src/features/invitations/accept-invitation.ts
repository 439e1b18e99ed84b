// A caller takes an invitation to its own tenant, once: it becomes a user with the address and the role that were meant
// for it. An unknown, used, revoked, expired or another tenant's token are all the same nothing.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { type Caller, homeTenant } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { type UserRow, upsertUser } from '../users/index.ts'
import { hashToken } from './invitation-token.ts'
import { takeInvitation } from './repository.ts'

export function acceptInvitation(
  { db, clock, platformTenantId }: Deps,
  caller: Caller,
  token: string,
): Promise<UserRow> {
  const now = clock.now().toISOString()
  const tenantId = homeTenant(caller, platformTenantId)
  return transaction(db, async tx => {
    const taken = await takeInvitation(tx, { tokenHash: hashToken(token), tenantId, by: caller.sub, now })
    if (!taken) throw notFound()
    return upsertUser(tx, {
      id: newId(),
      user_id: caller.sub,
      tenant_id: tenantId,
      email: taken.email,
      display_name: null,
      role: taken.role,
      status: 'active',
      created_at: now,
      updated_at: now,
    })
  })
}
