// Inviting somebody into a tenant, taking that back, and accepting it. Nothing is sent: whoever invites hands the token on.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { type Caller, homeTenant } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { lockRoleShared, refuseBuiltIn, unknownRole } from '../roles/index.ts'
import { type UserRow, upsertUser } from '../users/index.ts'
import { expiryOf, hashToken, type InvitationRow, MOST_DAYS, newToken } from './invitation.ts'
import { INVITATIONS, isRolePending, revoke, takeInvitation, writeExpired } from './store.ts'

export interface NewInvitation {
  email: string
  tenant_id: string
  role?: string | null
  expires_at?: string | null
}

/** The one moment the token is known. */
export async function createInvitation(
  { db, clock }: Deps,
  invitedBy: string,
  { email, tenant_id, role = null, expires_at }: NewInvitation,
): Promise<{ token: string; row: InvitationRow }> {
  refuseBuiltIn(role)
  const now = clock.now()
  const created_at = now.toISOString()
  const token = newToken()
  const invitation = {
    id: newId(),
    ...{ email, tenant_id, role, created_at },
    token_hash: hashToken(token),
    status: 'pending' as const,
    invited_by: invitedBy,
    expires_at: checkedExpiry(expires_at, now),
  }
  try {
    return await transaction(db, async tx => {
      if (role !== null && !(await lockRoleShared(tx, role))) throw unknownRole()
      await writeExpired(tx, tenant_id, email, created_at)
      const [row] = await INVITATIONS.insert(tx, [invitation])
      return { token, row: row! }
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'invitations_pending') throw error
    throw conflict('already_invited', 'This address has a pending invitation to the tenant: revoke it first.')
  }
}

function checkedExpiry(asked: string | null | undefined, now: Date): string {
  const expiry = expiryOf(asked, now)
  if (expiry !== null) return expiry
  throw invalid('The body is not acceptable.', [
    { pointer: '/expires_at', message: `must be a time in the next ${MOST_DAYS} days` },
  ])
}

/** It may be said twice. */
export async function revokeInvitation({ db }: Deps, id: string): Promise<void> {
  const status = await revoke(db, id)
  if (status === undefined) throw notFound()
  if (status === 'accepted')
    throw conflict('already_accepted', 'The invitation was accepted: suspend or delete the user instead.')
}

/**
 * The caller becomes a user of its tenant with the address and the role of the invitation. A token that is unknown, used,
 * revoked, expired or another tenant's is 404 alike.
 */
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

/** A role that a pending invitation carries is promised to somebody: it is not deleted. */
export const isRolePromised =
  ({ clock }: Pick<Deps, 'clock'>) =>
  (tx: Executor, role: string): Promise<boolean> =>
    isRolePending(tx, role, clock.now().toISOString())
