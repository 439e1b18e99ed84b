// Rows of the invitations.

export const INVITATION_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const
export type InvitationStatus = (typeof INVITATION_STATUSES)[number]

export interface InvitationRow {
  id: string
  email: string
  tenant_id: string
  role: string | null
  token_hash: string
  /** A pending one may have expired since: `statusAt` says what it is now. */
  status: InvitationStatus
  invited_by: string
  expires_at: string
  created_at: string
  accepted_at: string | null
  accepted_by: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    invitations: InvitationRow
  }
}
