// The issuer's JSON Web Key Set: one request for it, with bounds (so long, so much, from that address alone), and which of its
// keys are used. When to ask is decided in issuer-keys.ts.
import type { JSONWebKeySet, JWK } from 'jose'
import { type Dispatcher, request } from 'undici'
import { isLinkLocalAddress, REFUSED_ADDRESS, type Resolve, vettedLookup } from '../../kernel/addresses.ts'
import {
  createAgent,
  NoResponseError,
  readBody,
  requestHeaders,
  UpstreamError,
  withDeadline,
} from '../../kernel/http-client.ts'

export interface KeySetSource {
  /** Rejects with the reason, in words for the log. */
  fetch(): Promise<KeySet>
  close(): Promise<void>
}

export interface KeySetSourceOptions {
  url: string
  /** From the first byte to the end of the response. */
  timeoutMs?: number
  /** Another way to resolve names, for tests. */
  resolve?: Resolve
}

/** A request with a token may wait that long; the issuers that many share answer in a fraction of a second. */
const TIMEOUT_MS = 5_000
/** The largest set of a known issuer, with a certificate for each key, has 20 KiB. */
const MOST_BYTES = 256 * 1024

export function fetchKeySet({ url, timeoutMs = TIMEOUT_MS, resolve }: KeySetSourceOptions): KeySetSource {
  // Issuers in private networks are common; none has a link-local address, where clouds keep credentials.
  const dispatcher = createAgent({
    connections: 1,
    silenceMs: timeoutMs,
    lookup: vettedLookup(address => !isLinkLocalAddress(address), resolve),
  })
  const headers = requestHeaders({ accept: 'application/jwk-set+json, application/json' })
  return {
    async fetch() {
      const text = await withDeadline({ timeoutMs }, async signal =>
        // Redirects are not followed: they could lead anywhere.
        boundedText(await request(url, { headers, dispatcher, signal })),
      ).catch(error => {
        throw error instanceof NoResponseError ? new Error(reasonOf(error)) : error
      })
      const keys = readKeySet(text)
      if (!keys) throw new Error('the answer is no JSON Web Key Set')
      return keys
    },
    // Not `close`, which waits for responses.
    close: () => dispatcher.destroy(),
  }
}

async function boundedText({ statusCode, body }: Dispatcher.ResponseData): Promise<string> {
  if (statusCode !== 200) {
    await body.dump()
    throw new UpstreamError(`the answer is ${statusCode}`)
  }
  const { content, tooLong } = await readBody(body, MOST_BYTES)
  if (tooLong) throw new UpstreamError(`the answer is larger than ${MOST_BYTES / 1024} KiB`)
  return content.toString('utf8')
}

function reasonOf({ code, timedOut, message }: NoResponseError): string {
  if (timedOut) return message
  return code === REFUSED_ADDRESS ? 'the name resolves to a link-local address' : `no answer (${code})`
}

// Which keys are used: public ones of the three algorithms, as strong as those ask for. What else is in the set is left
// out, with the reason for the log; a token that names such a key names no key.

export interface KeySet extends JSONWebKeySet {
  /** The keys that were left out: which, and why. */
  leftOut: string[]
}

const WEAKEST_RSA_BITS = 2048
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** Undefined for what is no JWKS at all. */
export function readKeySet(text: string): KeySet | undefined {
  const keys = keysIn(text)
  if (!keys) return undefined
  const judged = keys.map((key, index) => ({ key, index, reason: unfitness(key) }))
  return {
    keys: judged.flatMap(({ key, reason }) => (reason ? [] : [key as JWK])),
    leftOut: judged.flatMap(({ key, index, reason }) => (reason ? [`${nameOf(key, index)}: ${reason}`] : [])),
  }
}

function keysIn(text: string): unknown[] | undefined {
  try {
    const { keys } = JSON.parse(text) ?? {}
    return Array.isArray(keys) ? keys : undefined
  } catch {
    return undefined
  }
}

/** A name the issuer gave, as far as a log should repeat it. */
function nameOf(key: unknown, index: number): string {
  const { kid } = (key ?? {}) as { kid?: unknown }
  return typeof kid === 'string' && /^[\x21-\x7e]{1,64}$/.test(kid) ? kid : `key ${index + 1}`
}

/** Why a key is not used; undefined when it is. */
function unfitness(key: unknown): string | undefined {
  if (typeof key !== 'object' || key === null || Array.isArray(key)) return 'it is no key'
  const { kty, crv, n, alg, use, key_ops: operations } = key as JWK
  if (PRIVATE_MEMBERS.some(member => Object.hasOwn(key, member))) return 'it is not public'
  if (use !== undefined && use !== 'sig') return 'it is not for signatures'
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify')))
    return 'it is not for verifying'
  const fits = algorithmOf(kty, crv)
  if (!fits) return 'it is of no kind that RS256, ES256 or EdDSA use'
  if (alg !== undefined && alg !== fits) return `it is for another algorithm than ${fits}`
  if (fits === 'RS256' && bitsIn(n) < WEAKEST_RSA_BITS) return `it has less than ${WEAKEST_RSA_BITS} bits`
  return undefined
}

function algorithmOf(kty: unknown, crv: unknown): string | undefined {
  if (kty === 'RSA') return 'RS256'
  if (kty === 'EC' && crv === 'P-256') return 'ES256'
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : undefined
}

/** Of a number in base64url; zeros before it do not count. */
function bitsIn(number: unknown): number {
  if (typeof number !== 'string') return 0
  const hex = Buffer.from(number, 'base64url').toString('hex').replace(/^0+/, '')
  return hex === '' ? 0 : (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0]!, 16)))
}
