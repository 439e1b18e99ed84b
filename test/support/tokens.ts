// Tokens as the issuer would make them, good ones and others.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import {
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose'

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

export const ISSUER = 'https://id.example.com'
export const AUDIENCE = 'cloudops-api'

export interface SigningKey {
  /** As it is published. */
  jwk: JWK
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>
}

export interface Issuer {
  url: string
  /** What a service is configured with that trusts it. */
  env: Record<'JWT_JWKS_URL' | 'JWT_ISSUER' | 'JWT_AUDIENCE', string>
  /** How often its keys were asked for. */
  asked(): number
  serve(...keys: (JWK | SigningKey)[]): void
  /** Answers in this way from now on. */
  answer(how: RequestListener): void
  close(): Promise<void>
}

export async function startIssuer(t: TestContext, ...keys: SigningKey[]): Promise<Issuer> {
  let count = 0
  let how: RequestListener = () => {}
  const server = createServer((request, reply) => {
    count += 1
    how(request, reply)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys/`
  const issuer: Issuer = {
    url,
    env: { JWT_JWKS_URL: url, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE },
    asked: () => count,
    serve(...served) {
      const text = JSON.stringify({ keys: served.map(key => ('jwk' in key ? key.jwk : key)) })
      how = (_request, reply) => reply.setHeader('content-type', 'application/json').end(text)
    },
    answer(listener) {
      how = listener
    },
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  issuer.serve(...keys)
  t.after(issuer.close)
  return issuer
}

const made = new Map<string, Promise<SigningKey>>()

/** One for each name and algorithm: making an RSA key takes long. */
export function signingKey(kid: string, alg = 'ES256', members: JWK = {}): Promise<SigningKey> {
  const name = JSON.stringify([kid, alg, members])
  const known = made.get(name) ?? makeKey(kid, alg, members)
  made.set(name, known)
  return known
}

async function makeKey(kid: string, alg: string, members: JWK): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg)
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig', ...members },
    sign: (claims, header) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  }
}

/** What a token of this issuer for this service holds, at a moment. */
export function claimsAt(now: Date, claims: JWTPayload = {}): JWTPayload {
  const seconds = Math.floor(now.getTime() / 1000)
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'ada',
    tenant_id: 'acme',
    role: 'member',
    iat: seconds,
    exp: seconds + 86_400,
    ...claims,
  }
}
