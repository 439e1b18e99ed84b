// Invites an address into a tenant: the one moment the token is known. Nothing is sent; whoever invites hands it on.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { holdRole, refuseBuiltIn, unknownRole } from '../roles/index.ts'
import { expiryOf, MOST_DAYS } from './invitation-life.ts'
import { hashToken, newToken } from './invitation-token.ts'
import { insertInvitation, writeExpired } from './repository.ts'
import type { InvitationRow } from './tables.ts'

export interface NewInvitation {
  email: string
  tenant_id: string
  role?: string | null
  expires_at?: string | null
}

export async function createInvitation(
  { db, clock }: Deps,
  invitedBy: string,
  { email, tenant_id, role = null, expires_at }: NewInvitation,
): Promise<{ token: string; row: InvitationRow }> {
  refuseBuiltIn(role)
  const now = clock.now()
  const token = newToken()
  const row: InvitationRow = {
    id: newId(),
    email,
    tenant_id,
    role,
    token_hash: hashToken(token),
    status: 'pending',
    invited_by: invitedBy,
    expires_at: checkedExpiry(expires_at, now),
    created_at: now.toISOString(),
    accepted_at: null,
    accepted_by: null,
  }
  try {
    await transaction(db, async tx => {
      if (role !== null && !(await holdRole(tx, role))) throw unknownRole()
      await writeExpired(tx, tenant_id, email, row.created_at)
      await insertInvitation(tx, row)
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'invitations_pending') throw error
    throw conflict('already_invited', 'This address has a pending invitation to the tenant: revoke it first.')
  }
  return { token, row }
}

function checkedExpiry(asked: string | null | undefined, now: Date): string {
  const expiry = expiryOf(asked, now)
  if (expiry !== null) return expiry
  throw invalid('The body is not acceptable.', [
    { pointer: '/expires_at', message: `must be a time in the next ${MOST_DAYS} days` },
  ])
}
