// How long an invitation is good, and what it is at a given moment. Nothing has to run for one to expire.
import type { InvitationRow, InvitationStatus } from './tables.ts'

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
