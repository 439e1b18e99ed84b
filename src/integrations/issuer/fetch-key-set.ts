// One request for the issuer's keys, with bounds: so long, so much, from that address alone. When to make it is decided in
// issuer-keys.ts.
import { Agent, type Dispatcher, request } from 'undici'
import { isLinkLocalAddress, REFUSED_ADDRESS, type Resolve, vettedLookup } from '../../kernel/addresses.ts'
import { failureCode } from '../../kernel/errors.ts'
import { type KeySet, readKeySet } from './key-set.ts'

export interface KeySetSource {
  /** Rejects with the reason, in words for the log. */
  fetch(): Promise<KeySet>
  close(): Promise<void>
}

export interface KeySetSourceOptions {
  url: string
  /** From the first byte to the end of the answer. */
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
  const dispatcher = new Agent({
    connections: 1,
    connect: { timeout: timeoutMs, lookup: vettedLookup(address => !isLinkLocalAddress(address), resolve) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  return {
    async fetch() {
      const deadline = AbortSignal.timeout(timeoutMs)
      const answer = await request(url, {
        headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'cloudops' },
        // Redirects are not followed: they could lead anywhere.
        dispatcher,
        signal: deadline,
      })
        .then(bounded)
        .catch(error => {
          throw error instanceof Complaint
            ? error
            : new Error(deadline.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error))
        })
      const keys = readKeySet(answer)
      if (!keys) throw new Error('the answer is no JSON Web Key Set')
      return keys
    },
    // Not `close`, which waits for answers.
    close: () => dispatcher.destroy(),
  }
}

/** What the issuer's answer is not good for. */
class Complaint extends Error {}

async function bounded({ statusCode, body }: Dispatcher.ResponseData): Promise<string> {
  if (statusCode !== 200) {
    await body.dump()
    throw new Complaint(`the answer is ${statusCode}`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    // Leaving the loop ends the connection, so that it does not keep pouring.
    if (bytes > MOST_BYTES) throw new Complaint(`the answer is larger than ${MOST_BYTES / 1024} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Words of ours and codes, never the library's. */
function reasonOf(error: unknown): string {
  const code = failureCode(error)
  if (code === REFUSED_ADDRESS) return 'the name resolves to a link-local address'
  return `no answer (${code})`
}
