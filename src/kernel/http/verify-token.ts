// Is this JWT good, and who is it? HMAC only, with the secrets shared with the issuer; nothing here issues tokens.
import { createHash, type webcrypto } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../clock.ts'
import { unauthenticated } from '../errors.ts'
import { withoutCredentials } from '../masking.ts'
import { type Identity, PLATFORM_ADMIN } from './caller.ts'

/** Issuer of the tokens this service makes for others (finance). They are refused at its own door. */
export const OWN_ISSUER = 'cloudops'

export interface TokenRules {
  secrets: readonly string[]
  issuer: string | undefined
  audience: string | undefined
  tenantClaim: string
  roleClaim: string
  clock: Clock
}

export interface VerifiedToken {
  caller: Identity
  /** Seconds since 1970. */
  expiresAt: number
}

const HASHES: Record<string, string> = { HS256: 'SHA-256', HS384: 'SHA-384', HS512: 'SHA-512' }
const LEEWAY_SECONDS = 5
/** The end of the year 9999: an issuer may mean `never` by a number that is no date. */
const LAST_SECOND = 253_402_300_799
const LONGEST_TOKEN = 8_192
const REMEMBERED_TOKENS = 10_000

/** A verifier that remembers good tokens by their exact text, and checks their expiry again at every use. */
export function tokenVerifier(rules: TokenRules): (token: string) => Promise<VerifiedToken> {
  const remembered = new Map<string, VerifiedToken>()
  const keys = keyring(rules.secrets)
  return async token => {
    const known = remembered.get(token)
    if (known) {
      if (known.expiresAt + LEEWAY_SECONDS > rules.clock.now().getTime() / 1000) return known
      remembered.delete(token)
      throw unauthenticated('The token has expired.')
    }
    const verified = await verify(token, rules, keys)
    if (remembered.size >= REMEMBERED_TOKENS) remembered.delete(remembered.keys().next().value!)
    remembered.set(token, verified)
    return verified
  }
}

type Keyring = (algorithm: string) => Promise<webcrypto.CryptoKey[]>

/** Imported once for each algorithm: a raw secret would be imported again for every token. */
function keyring(secrets: readonly string[]): Keyring {
  const imported = new Map<string, Promise<webcrypto.CryptoKey[]>>()
  return algorithm => {
    const known = imported.get(algorithm)
    if (known) return known
    const hash = HASHES[algorithm]!
    const keys = Promise.all(
      secrets.map(secret =>
        crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash }, false, ['verify']),
      ),
    )
    imported.set(algorithm, keys)
    return keys
  }
}

async function verify(token: string, rules: TokenRules, keys: Keyring): Promise<VerifiedToken> {
  if (token.length > LONGEST_TOKEN) throw unauthenticated('The token is too long.')
  const payload = await payloadOf(token, rules, keys)
  return { caller: callerFrom(token, payload, rules), expiresAt: payload.exp! }
}

async function payloadOf(token: string, rules: TokenRules, keys: Keyring): Promise<JWTPayload> {
  try {
    const { alg } = decodeProtectedHeader(token)
    if (!alg || !Object.hasOwn(HASHES, alg))
      throw unauthenticated('The token is not signed with HS256, HS384 or HS512.')
    for (const key of await keys(alg)) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [alg],
          currentDate: rules.clock.now(),
          clockTolerance: LEEWAY_SECONDS,
          requiredClaims: ['exp', 'sub'],
          issuer: rules.issuer,
          audience: rules.audience,
        })
        return payload
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      }
    }
  } catch (error) {
    throw refusal(error)
  }
  throw unauthenticated('The token’s signature is not valid.')
}

/** Words of our own for each refusal: the library's could one day repeat what was in the token. */
function refusal(error: unknown): Error {
  if (error instanceof errors.JWTExpired) return unauthenticated('The token has expired.')
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unauthenticated(`The token’s \`${error.claim}\` claim is missing or not acceptable.`)
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError)
    return unauthenticated('The token is malformed.')
  return error as Error
}

function callerFrom(token: string, payload: JWTPayload, rules: TokenRules): Identity {
  const now = rules.clock.now().getTime() / 1000
  if (
    payload.iat !== undefined &&
    !(typeof payload.iat === 'number' && payload.iat <= now + LEEWAY_SECONDS)
  ) {
    throw unauthenticated('The token’s `iat` claim lies in the future.')
  }
  if (payload.iss === OWN_ISSUER) throw unauthenticated('The token was made by this service for another one.')
  const sub = identifier(payload.sub)
  if (sub === null) throw unauthenticated('The token’s `sub` claim must be 1 to 128 characters of text.')
  const roles = [...rolesIn(payload[rules.roleClaim]), ...rolesIn(payload.roles)]
  return {
    sub,
    tenantId: identifier(payload[rules.tenantClaim]),
    roles: [...new Set(roles)],
    platformAdmin: roles.includes(PLATFORM_ADMIN),
    via: 'token',
    credentialId: idOf(token, payload.jti),
    expiresAt: new Date(Math.min(payload.exp!, LAST_SECOND) * 1000).toISOString(),
    issuedAt: payload.iat === undefined ? undefined : issuedAt(payload.iat),
  }
}

/** Of two tokens of a second neither is the newer one. What lies before 1970 is no time of issue. */
const issuedAt = (iat: number): string | undefined =>
  iat >= 0 ? new Date(Math.floor(iat) * 1000).toISOString() : undefined

/** The issuer's own name for the token, where it has one that can be written down. */
const idOf = (token: string, jti: unknown): string =>
  typeof jti === 'string' && /^[\x21-\x7e]{1,128}$/.test(jti) && withoutCredentials(jti) === jti
    ? jti
    : fingerprint(token)

/** Tells tokens apart in the log, and says nothing else of them. */
export const fingerprint = (token: string): string =>
  `sha256:${createHash('sha256').update(token).digest('hex').slice(0, 16)}`

/** Tenants and users are the issuer's: opaque text of 1 to 128 characters. Anything else is no identifier. */
function identifier(claim: unknown): string | null {
  if (typeof claim !== 'string' || claim.length < 1 || claim.length > 128) return null
  return claim.includes('\0') || !claim.isWellFormed() ? null : claim
}

function rolesIn(claim: unknown): string[] {
  return [claim].flat().filter(role => typeof role === 'string')
}
