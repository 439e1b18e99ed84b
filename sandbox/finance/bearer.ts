// Decides who may push an invoice: a bearer signed with a shared secret (HS256), that expires within two
// minutes, for a tenant, with the role admin. Not proven: 401. Proven but not allowed: 403.
import { errors, type JWTPayload, jwtVerify } from 'jose'

const LONGEST_LIFE_SECONDS = 120

export type Verdict = { tenantId: string } | { status: 401 | 403; message: string }

export async function judgeBearer(
  header: string | undefined,
  secrets: readonly string[],
  now: Date,
): Promise<Verdict> {
  const token = /^Bearer (.+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) return { status: 401, message: 'no bearer token' }
  const claims = await verified(token, secrets, now)
  if (typeof claims === 'string') return { status: 401, message: claims }
  const lives = claims.exp! - Math.min(claims.iat ?? Infinity, now.getTime() / 1000)
  if (lives > LONGEST_LIFE_SECONDS) return { status: 401, message: 'the token lives too long' }
  if (typeof claims.tenant_id !== 'string' || claims.tenant_id === '') {
    return { status: 403, message: 'the token names no tenant' }
  }
  const roles = [claims.role, claims.roles].flat()
  if (!roles.includes('admin')) return { status: 403, message: 'the role admin is required' }
  return { tenantId: claims.tenant_id }
}

/** Any of the secrets will do, so that they can be rotated. */
async function verified(token: string, secrets: readonly string[], now: Date): Promise<JWTPayload | string> {
  let reason = 'no secret is configured'
  for (const secret of secrets) {
    try {
      const options = { algorithms: ['HS256'], requiredClaims: ['exp'], currentDate: now }
      return (await jwtVerify(token, new TextEncoder().encode(secret), options)).payload
    } catch (error) {
      reason = error instanceof errors.JOSEError ? error.message : 'the token cannot be read'
    }
  }
  return reason
}
