// The session cookie: the caller's own token, signed with a key derived from SECRET_KEY and the salt. The token in it
// is verified again at every request, so the cookie never outlives it, nor a rotation of the issuer's secret. While
// SECRET_KEY is rotated, cookies signed with an older key that is still listed stay valid.
import { hkdfSync } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { SecretKeys } from '../sealed.ts'

export const SESSION_COOKIE = 'cloudops_session'

/** Browsers drop larger cookies without a word. */
export const LARGEST_COOKIE = 4_000

/** The first signs, any of them verifies. */
export const sessionKeys = (secretKeys: SecretKeys, salt: string): Buffer[] =>
  secretKeys.map(key => Buffer.from(hkdfSync('sha256', key, salt, 'cloudops session cookie', 32)))

export const cookieOptions = (production: boolean): CookieSerializeOptions => ({
  path: '/api',
  httpOnly: true,
  sameSite: 'lax',
  secure: production,
  signed: true,
})
