// Rows of the invitations.
import type { Row } from '../../kernel/db/tables.ts'

export const INVITATION_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const
export type InvitationStatus = (typeof INVITATION_STATUSES)[number]

/** A pending one may have expired since: `statusAt` says what it is now. */
export type InvitationRow = Row<'invitations'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    invitations: { status: InvitationStatus }
  }
}
