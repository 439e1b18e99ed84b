// The session cookie: the session's id, signed with a key derived from SECRET_KEY and the salt.
import { hkdfSync } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'

export const sessionKey = (secretKey: string, salt: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, salt, 'cloudops session cookie', 32))

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
