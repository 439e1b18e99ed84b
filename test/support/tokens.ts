// Tokens as the issuer would make them, good ones and others.
import { type JWTPayload, SignJWT } from 'jose'

export const SECRET = 'test-issuer-secret-0-8f3a1c9be7d25046'
export const OLDER_SECRET = 'test-issuer-secret-1-b04d7e62fa9318c5'

export interface TokenMaker {
  /** A platform_admin. */
  admin(claims?: JWTPayload): Promise<string>
  /** A user of a tenant. */
  tenant(tenantId: string, claims?: JWTPayload): Promise<string>
  /** Whatever claims are given, and nothing else. */
  raw(claims: JWTPayload, options?: { secret?: string; alg?: string }): Promise<string>
}

export function tokenMaker(now: () => Date): TokenMaker {
  const seconds = () => Math.floor(now().getTime() / 1000)
  const raw: TokenMaker['raw'] = (claims, { secret = SECRET, alg = 'HS256' } = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(Buffer.from(secret))
  const lasting = (claims: JWTPayload) => ({ iat: seconds(), exp: seconds() + 3600, ...claims })
  return {
    raw,
    admin: claims => raw(lasting({ sub: 'ada', role: 'platform_admin', ...claims })),
    tenant: (tenantId, claims) =>
      raw(lasting({ sub: `${tenantId}-user`, tenant_id: tenantId, role: 'member', ...claims })),
  }
}
