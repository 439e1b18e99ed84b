// What the service needs in its environment, with secrets of this run's own.
import { randomBytes } from 'node:crypto'
import { type JWTPayload, SignJWT } from 'jose'

export const POOL_SIZE = '10'

const secret = () => randomBytes(48).toString('base64')

export function serviceEnvironment(databaseUrl: string) {
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: POOL_SIZE,
    JWT_SECRET: secret(),
    SECRET_KEY: secret(),
    SESSION_SIGNING_SALT: secret(),
    // As by default, but never reached.
    RATE_LIMIT_PER_MINUTE: '10000000',
  }
}

/** Headers of a caller with these claims. */
export async function headersFor(jwtSecret: string, claims: JWTPayload): Promise<Record<string, string>> {
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('bench')
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(Buffer.from(jwtSecret))
  return { authorization: `Bearer ${token}` }
}
