// When a key is good: from its making until it expires or is revoked, whichever comes first.
import type { ApiKeyRow } from './tables.ts'

type Lifetime = Pick<ApiKeyRow, 'created_at' | 'expires_at' | 'revoked_at'>

export const isActive = (
  { expires_at, revoked_at }: Pick<Lifetime, 'expires_at' | 'revoked_at'>,
  now: Date,
): boolean => revoked_at === null && (expires_at === null || Date.parse(expires_at) > now.getTime())

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** The time in UTC, or null when it is not one a key can expire at: past, or no time at all. */
export function expiryFrom(text: string, now: Date): string | null {
  const time = Date.parse(text)
  return time > now.getTime() && time <= LAST_TIME ? new Date(time).toISOString() : null
}

/** A replaced key lives on for the grace, but never longer than it would have. */
export function expiryAfterGrace({ expires_at }: Lifetime, graceSeconds: number, now: Date): string {
  const end = now.getTime() + graceSeconds * 1000
  return new Date(expires_at === null ? end : Math.min(end, Date.parse(expires_at))).toISOString()
}

/** A key that takes another's place is given as long a life as that one was. */
export function sameLifetime({ created_at, expires_at }: Lifetime, now: Date): string | null {
  if (expires_at === null) return null
  const end = now.getTime() + Date.parse(expires_at) - Date.parse(created_at)
  return new Date(Math.min(end, LAST_TIME)).toISOString()
}
