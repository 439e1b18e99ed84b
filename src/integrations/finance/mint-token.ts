// The only token this service makes: for one push, for a minute, in the name of the platform-admin tenant, with the role
// that finance asks of whoever writes. Its issuer keeps it from opening this service's own door.
import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { OWN_ISSUER } from '../../kernel/http/verify-token.ts'
import type { Clock } from '../../kernel/time.ts'

const TOKEN_SECONDS = 60
const TOKEN_AUDIENCE = 'finance'

export interface TokenOptions {
  secret: string
  tenantId: string
  clock: Clock
}

export function tokenMint({ secret, tenantId, clock }: TokenOptions): () => Promise<string> {
  const key = Buffer.from(secret)
  return () => {
    const now = Math.floor(clock.now().getTime() / 1000)
    return new SignJWT({ tenant_id: tenantId, role: 'admin' })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(OWN_ISSUER)
      .setAudience(TOKEN_AUDIENCE)
      .setSubject(OWN_ISSUER)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(key)
  }
}
