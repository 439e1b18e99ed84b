// What an invitation looks like, how long it is good, and its token. Nothing has to run for one to expire: a pending one
// whose time is over is expired.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { randomDigits, SECRET_LENGTH } from '../../kernel/crypto.ts'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'

export const INVITATION_STATUSES = ['pending', 'accepted', 'revoked', 'expired'] as const
export type InvitationStatus = (typeof INVITATION_STATUSES)[number]

export const Status = Type.Enum([...INVITATION_STATUSES])

export const Invitation = noun('Invitation', {
  id: Id,
  email: Type.String(),
  tenant_id: Type.String(),
  role: Nullable(Type.String()),
  status: Status,
  invited_by: Type.String(),
  expires_at: Time,
  created_at: Time,
  accepted_at: Nullable(Time),
  accepted_by: Nullable(Type.String()),
})

export const CreatedInvitation = extended('CreatedInvitation', Invitation, {
  token: Type.String({ description: 'Hand it to the invited. It is shown here and never again.' }),
})

/** A pending one may have expired since: `statusAt` says what it is now. */
export type InvitationRow = Row<'invitations'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    invitations: { status: InvitationStatus }
  }
}

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 7
export const MOST_DAYS = 90

/** When a new one expires, in UTC; null when what was asked for is past, too far off, or no time at all. */
export function expiryOf(asked: string | null | undefined, now: Date): string | null {
  const start = now.getTime()
  if (asked === null || asked === undefined) return new Date(start + DEFAULT_DAYS * DAY_MS).toISOString()
  const time = Date.parse(asked)
  return time > start && time <= start + MOST_DAYS * DAY_MS ? new Date(time).toISOString() : null
}

export const statusAt = (
  { status, expires_at }: Pick<InvitationRow, 'status' | 'expires_at'>,
  now: Date,
): InvitationStatus => (status === 'pending' && Date.parse(expires_at) <= now.getTime() ? 'expired' : status)

/** inv_<43 base62>, as strong as an API key. Only its hash is stored. */
export const newToken = (): string => `inv_${randomDigits(SECRET_LENGTH)}`

/** Invitations are found by this alone, so that how long it takes says nothing about any token. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
