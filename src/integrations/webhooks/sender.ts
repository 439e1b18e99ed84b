// Sends one message to one receiver, once, and says what came of it. Trying again is the feature's.
import { Agent, type Dispatcher, request } from 'undici'
import { REFUSED_ADDRESS, type Resolve, vettedLookup } from '../../kernel/addresses.ts'
import { failureCode } from '../../kernel/errors.ts'
import { type Signed, signatures } from './signature.ts'
import { addressAllowed, refusalOf } from './target.ts'

export interface Message extends Signed {
  url: string
  /** `whsec_…`; each gives a signature. */
  secrets: readonly string[]
}

export interface Outcome {
  /** Null: there was no answer. */
  status_code: number | null
  /** Why there was none. */
  error: string | null
  /** The beginning of the answer's body. */
  response_body: string | null
  duration_ms: number
}

export interface WebhookSender {
  /** Why nothing can ever be sent there; null when it may be tried. */
  refusal(url: string): string | null
  /** Rejects only when the signal is aborted: then nobody knows whether it arrived. */
  send(message: Message, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

export interface WebhookSenderOptions {
  /** Also to private addresses, and without encryption; never to link-local ones. */
  allowPrivate: boolean
  /** From the first byte to the end of the answer. */
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
  // An agent of its own: nothing of the environment, such as a proxy, comes between.
  const dispatcher = new Agent({
    connect: { timeout: timeoutMs, lookup: vettedLookup(addressAllowed(allowPrivate), resolve) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })

  async function post({ url, secrets, ...signed }: Message, signal: AbortSignal) {
    const answer = await request(url, {
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
    return { status_code: answer.statusCode, error: null, response_body: await beginning(answer) }
  }

  return {
    refusal: url => refusalOf(url, allowPrivate),

    async send(message, signal) {
      signal.throwIfAborted()
      const started = performance.now()
      const timed = (outcome: Omit<Outcome, 'duration_ms'>): Outcome => ({
        ...outcome,
        duration_ms: Math.round(performance.now() - started),
      })
      // An address of digits is connected to without being looked up, and what was allowed once need not be any more.
      const refusal = refusalOf(message.url, allowPrivate)
      if (refusal) return timed(failed(`the address ${refusal}`))
      const deadline = AbortSignal.timeout(timeoutMs)
      try {
        return timed(await post(message, AbortSignal.any([signal, deadline])))
      } catch (error) {
        signal.throwIfAborted()
        return timed(failed(deadline.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error)))
      }
    },

    // Not `close`, which waits for answers.
    close: () => dispatcher.destroy(),
  }
}

const failed = (error: string) => ({ status_code: null, error, response_body: null })

/** The status has been said: whatever goes wrong with the body changes nothing. */
async function beginning({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (bytes < KEPT_BYTES) chunks.push(chunk)
      bytes += chunk.byteLength
      // Leaving the loop ends the connection, so that it does not keep pouring.
      if (bytes > READ_BYTES) break
    }
  } catch {
    // What came before it broke is kept.
  }
  // The database takes no NUL.
  return Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\0', '\u{fffd}')
}

/** Words of ours and codes, never the library's error: it may show the request. */
function reasonOf(error: unknown): string {
  const code = failureCode(error)
  if (code === REFUSED_ADDRESS) return 'the name resolves to a private address'
  return `no answer (${code})`
}
