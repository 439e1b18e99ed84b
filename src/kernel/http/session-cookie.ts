// The session cookie: the session's id, signed with a key derived from SECRET_KEY and the salt. While SECRET_KEY is
// rotated, cookies signed with an older key that is still listed stay valid.
import { hkdfSync } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { SecretKeys } from '../crypto.ts'

/** The first signs, any of them verifies. */
export const sessionKeys = (secretKeys: SecretKeys, salt: string): Buffer[] =>
  secretKeys.map(key => Buffer.from(hkdfSync('sha256', key, salt, 'cloudops session cookie', 32)))

/** `__Host-`: browsers take it over https alone, from this very host and for all of it. Plain http has to do without. */
export const sessionCookieName = (production: boolean): string =>
  production ? '__Host-cloudops_session' : 'cloudops_session'

export const cookieOptions = (production: boolean): CookieSerializeOptions => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax',
  secure: production,
  signed: true,
})
