// Sends one message to one receiver, once, and says what came of it. Trying again is the feature's.
import { createHmac } from 'node:crypto'
import { request } from 'undici'
import {
  addressIn,
  isLinkLocalAddress,
  isPublicAddress,
  REFUSED_ADDRESS,
  type Resolve,
  vettedLookup,
} from '../../kernel/addresses.ts'
import { createAgent, NoResponseError, readBody, withDeadline } from '../../kernel/http-client.ts'

export interface WebhookMessage extends Signed {
  url: string
  /** `whsec_…`; each gives a signature. */
  secrets: readonly string[]
}

export interface DeliveryOutcome {
  /** Null: there was no response. */
  status_code: number | null
  /** Why there was none. */
  error: string | null
  /** The beginning of the response's body. */
  response_body: string | null
  duration_ms: number
}

export interface WebhookSender {
  /** Why nothing can ever be sent there; null when it may be tried. */
  refusal(url: string): string | null
  /** Rejects only when the signal is aborted: then nobody knows whether it arrived. */
  send(message: WebhookMessage, signal: AbortSignal): Promise<DeliveryOutcome>
  close(): Promise<void>
}

export interface WebhookSenderOptions {
  /** Also to private addresses, and without encryption; never to link-local ones. */
  allowPrivate: boolean
  /** From the first byte to the end of the response. */
  timeoutMs?: number
  /** Another way to resolve names, for tests. */
  resolve?: Resolve
}

const TIMEOUT_MS = 15_000
const KEPT_BYTES = 1024
/** What is longer is not read to its end; the connection is closed instead. */
const READ_BYTES = 16 * 1024

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { allowPrivate, timeoutMs = TIMEOUT_MS, resolve } = options
  const dispatcher = createAgent({
    connectMs: timeoutMs,
    silenceMs: timeoutMs,
    lookup: vettedLookup(addressAllowed(allowPrivate), resolve),
  })

  async function post({ url, secrets, ...signed }: WebhookMessage, signal: AbortSignal) {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'cloudops-webhooks',
        'webhook-id': signed.id,
        'webhook-timestamp': String(signed.timestamp),
        'webhook-signature': signatures(secrets, signed),
      },
      body: signed.body,
      // Redirects are not followed: they could lead anywhere.
      dispatcher,
      signal,
    })
    // The status has been said: whatever goes wrong with the body changes nothing.
    const { content } = await readBody(body, READ_BYTES, { keepBroken: true })
    // The database takes no NUL.
    const kept = content.subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\0', '\u{fffd}')
    return { status_code: statusCode, error: null, response_body: kept }
  }

  return {
    refusal: url => refusalOf(url, allowPrivate),

    async send(message, signal) {
      signal.throwIfAborted()
      const started = performance.now()
      const timed = (outcome: Omit<DeliveryOutcome, 'duration_ms'>): DeliveryOutcome => ({
        ...outcome,
        duration_ms: Math.round(performance.now() - started),
      })
      // An address of digits is connected to without being looked up, and what was allowed once need not be any more.
      const refusal = refusalOf(message.url, allowPrivate)
      if (refusal) return timed(failed(`the address ${refusal}`))
      try {
        return timed(await withDeadline({ timeoutMs, signal }, signal => post(message, signal)))
      } catch (error) {
        if (!(error instanceof NoResponseError)) throw error
        return timed(failed(reasonOf(error)))
      }
    },

    // Not `close`, which waits for responses.
    close: () => dispatcher.destroy(),
  }
}

const failed = (error: string) => ({ status_code: null, error, response_body: null })

function reasonOf({ code, timedOut, message }: NoResponseError): string {
  if (timedOut) return message
  return code === REFUSED_ADDRESS ? 'the name resolves to a private address' : `no answer (${code})`
}

// Where a webhook may point to, as far as its address shows. What a name resolves to is checked when it is called.

/** Closed networks have receivers at private addresses; none is at a link-local one, where clouds keep credentials. */
export const addressAllowed =
  (allowPrivate: boolean) =>
  (address: string): boolean =>
    allowPrivate ? !isLinkLocalAddress(address) : isPublicAddress(address)

/** Why nothing can ever be sent there; null when it may be tried. */
export function refusalOf(address: string, allowPrivate: boolean): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https:// address'
  if (url.protocol === 'http:' && !allowPrivate) return 'must be an https:// address'
  if (url.username || url.password) return 'must hold no user name and no password'
  if (url.hash) return 'must have no fragment'
  const digits = addressIn(url)
  if (digits === undefined || addressAllowed(allowPrivate)(digits)) return null
  return allowPrivate ? 'must not point to a link-local address' : 'must not point to a private address'
}

// The Standard Webhooks signature: an HMAC over id, time and body, so that a receiver can tell our message from a forged,
// changed or old one. Several secrets give several signatures, of which one that fits is enough.

export const SECRET_PREFIX = 'whsec_'

export interface Signed {
  id: string
  /** When it is sent, in seconds. */
  timestamp: number
  body: string
}

/** The value of the `webhook-signature` header. */
export const signatures = (secrets: readonly string[], message: Signed): string =>
  secrets.map(secret => signature(secret, message)).join(' ')

function signature(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
