// Verifies JWTs. They are signed with a secret shared with the issuer (HS…) or with a key of the issuer's own (RS256,
// ES256, EdDSA); the configured issuer decides which, never the token alone. Nothing here issues tokens.
import { createHash, type webcrypto } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose'
import { unauthenticated } from '../errors.ts'
import { withoutCredentials } from '../log.ts'
import type { Clock } from '../time.ts'
import { type Identity, PLATFORM_ADMIN } from './caller.ts'

/** Issuer of the tokens this service makes for others (finance); it refuses them itself. */
export const OWN_ISSUER = 'cloudops'

export interface TokenRules {
  /** When empty, no token signed with a secret is valid. */
  secrets: readonly string[]
  /** The issuer that `issuerKeys` belong to; without those, the one that shares the secrets. */
  issuer: string | undefined
  audience: string | undefined
  issuerKeys: IssuerKeys | undefined
  tenantClaim: string
  roleClaim: string
  clock: Clock
}

/** The public keys of an issuer (JWKS). */
export interface IssuerKeys {
  /** The number of the current key set; undefined before it was fetched or when it is stale. */
  edition(): number | undefined
  /** The key that a token names. Rejects when there is none or the keys cannot be fetched. */
  keyFor(header: {
    alg: string
    kid: string | undefined
  }): Promise<{ key: webcrypto.CryptoKey; edition: number }>
}

export interface VerifiedToken {
  caller: Identity
  /** Seconds since 1970. */
  expiresAt: number
}

interface Verified extends VerifiedToken {
  /** The key set it was verified with; undefined: a secret. */
  edition: number | undefined
}

const ISSUER_ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
/** The `typ` of access tokens; others have other purposes, such as signing out. */
const ISSUER_TYPES = ['jwt', 'at+jwt']
/** Headers that carry a key, or say where to get one. */
const OWN_KEY_HEADERS = ['jwk', 'jku', 'x5u', 'x5c']
const HASHES: Record<string, string> = { HS256: 'SHA-256', HS384: 'SHA-384', HS512: 'SHA-512' }
const LEEWAY_SECONDS = 5
/** The end of the year 9999: an issuer may use a number beyond any date for `never`. */
const LAST_SECOND = 253_402_300_799
const LONGEST_TOKEN = 8_192
const CACHED_TOKENS = 10_000

/**
 * A verifier that caches valid tokens by their exact text. Their expiry is checked at every use, and they are verified
 * again when the issuer's keys have changed.
 */
export function tokenVerifier(rules: TokenRules): (token: string) => Promise<VerifiedToken> {
  const cached = new Map<string, Verified>()
  const keys = keyring(rules.secrets)
  return async token => {
    const known = cached.get(token)
    if (known && known.expiresAt + LEEWAY_SECONDS <= rules.clock.now().getTime() / 1000) {
      cached.delete(token)
      throw unauthenticated('The token has expired.')
    }
    if (known && (known.edition === undefined || known.edition === rules.issuerKeys?.edition())) return known
    const verified = await verify(token, rules, keys)
    if (cached.size >= CACHED_TOKENS) cached.delete(cached.keys().next().value!)
    cached.set(token, verified)
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

async function verify(token: string, rules: TokenRules, keys: Keyring): Promise<Verified> {
  if (token.length > LONGEST_TOKEN) throw unauthenticated('The token is too long.')
  const { payload, edition } = await payloadOf(token, rules, keys)
  return { caller: callerFrom(token, payload, rules), expiresAt: payload.exp!, edition }
}

interface Payload {
  payload: JWTPayload
  edition: number | undefined
}

async function payloadOf(token: string, rules: TokenRules, keys: Keyring): Promise<Payload> {
  try {
    const header = decodeProtectedHeader(token)
    refuseHeader(header)
    const { issuerKeys } = rules
    return issuerKeys && ISSUER_ALGORITHMS.includes(header.alg ?? '')
      ? await withIssuerKey(token, header, rules, issuerKeys)
      : { payload: await withSecret(token, header, rules, keys), edition: undefined }
  } catch (error) {
    throw refusal(error)
  }
}

function refuseHeader(header: ProtectedHeaderParameters): void {
  if (OWN_KEY_HEADERS.some(name => Object.hasOwn(header, name)))
    throw unauthenticated('The token brings a key of its own, which proves nothing.')
  if (Object.hasOwn(header, 'crit')) throw unauthenticated('The token asks for an extension (`crit`).')
}

async function withSecret(
  token: string,
  { alg = '' }: ProtectedHeaderParameters,
  rules: TokenRules,
  keys: Keyring,
): Promise<JWTPayload> {
  if (rules.secrets.length === 0 || !Object.hasOwn(HASHES, alg))
    throw unauthenticated(`The token is not signed with ${algorithmsOf(rules)}.`)
  // With issuer keys, the configured issuer is theirs, and a secret may be of any other.
  const { issuerKeys, issuer } = rules
  const options = { ...optionsOf(rules, alg), issuer: issuerKeys ? undefined : issuer }
  for (const key of await keys(alg)) {
    try {
      const { payload } = await jwtVerify(token, key, options)
      if (issuerKeys && payload.iss === issuer)
        throw unauthenticated('Tokens of this issuer are signed with its own keys, not with a secret.')
      return payload
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw unauthenticated('The token’s signature is not valid.')
}

async function withIssuerKey(
  token: string,
  { alg = '', kid, typ = 'JWT' }: ProtectedHeaderParameters,
  rules: TokenRules,
  issuerKeys: IssuerKeys,
): Promise<Payload> {
  // Checked first: another issuer's token is no reason to fetch the keys.
  if (decodeJwt(token).iss !== rules.issuer) throw badClaim('iss')
  if (!ISSUER_TYPES.includes(typ.toLowerCase().replace(/^application\//, '')))
    throw unauthenticated('The token’s `typ` is neither JWT nor at+jwt: it is not meant for requests.')
  const { key, edition } = await issuerKeys.keyFor({ alg, kid })
  const { payload } = await jwtVerify(token, key, { ...optionsOf(rules, alg), issuer: rules.issuer })
  return { payload, edition }
}

const optionsOf = ({ clock, audience }: TokenRules, alg: string): JWTVerifyOptions => ({
  algorithms: [alg],
  currentDate: clock.now(),
  clockTolerance: LEEWAY_SECONDS,
  requiredClaims: ['exp', 'sub'],
  audience,
})

const algorithmsOf = ({ secrets, issuerKeys }: TokenRules): string => {
  const names = [...(secrets.length > 0 ? Object.keys(HASHES) : []), ...(issuerKeys ? ISSUER_ALGORITHMS : [])]
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

const badClaim = (claim: string) =>
  unauthenticated(`The token’s \`${claim}\` claim is missing or not acceptable.`)

/** Our own texts: the library's could one day repeat what was in the token. */
function refusal(error: unknown): Error {
  if (error instanceof errors.JWTExpired) return unauthenticated('The token has expired.')
  if (error instanceof errors.JWTClaimValidationFailed) return badClaim(error.claim)
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return unauthenticated('The token’s signature is not valid.')
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

/** To the second, as `iat` is; before 1970 it is no time of issue. */
const issuedAt = (iat: number): string | undefined =>
  iat >= 0 ? new Date(Math.floor(iat) * 1000).toISOString() : undefined

/** The token's `jti`, unless it is unprintable or looks like a credential itself. */
const idOf = (token: string, jti: unknown): string =>
  typeof jti === 'string' && /^[\x21-\x7e]{1,128}$/.test(jti) && withoutCredentials(jti) === jti
    ? jti
    : fingerprint(token)

/** Tells tokens apart in the log and reveals nothing else. */
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
