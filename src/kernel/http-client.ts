// What every outgoing HTTP call has in common: a deadline, a bounded body, and errors that never show the request. Trying
// again is in retry.ts. Redirects are followed nowhere: credentials are for one address alone.
import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'
import { failureCode } from './errors.ts'

/** What an outside service did or said, in our words. The base of each integration's own error. */
export class UpstreamError extends Error {
  override readonly name: string = 'UpstreamError'
}

/** No whole response came. The library's error is left out on purpose: it may show the request, credentials and all. */
export class NoResponseError extends UpstreamError {
  override readonly name: string = 'NoResponseError'
  /** The network's code, such as `ECONNREFUSED`. */
  readonly code: string
  readonly timedOut: boolean

  constructor(code: string, timeoutMs?: number) {
    super(timeoutMs === undefined ? code : `no answer within ${timeoutMs} ms`)
    this.code = code
    this.timedOut = timeoutMs !== undefined
  }
}

export interface DeadlineOptions {
  /** From the first byte sent to the end of what `call` awaits. */
  timeoutMs: number
  signal?: AbortSignal
  /** The deadline and the signal also end a body that is read after `call` has returned. */
  coversBody?: boolean
}

/**
 * Runs one HTTP call. Rejects with the signal's reason, with an UpstreamError that `call` throws, or with NoResponseError.
 */
export async function withDeadline<T>(
  { timeoutMs, signal, coversBody = false }: DeadlineOptions,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    controller.abort()
  }, timeoutMs)
  const release = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  try {
    const result = await call(controller.signal)
    if (coversBody) timer.unref()
    else release()
    return result
  } catch (error) {
    release()
    signal?.throwIfAborted()
    if (error instanceof UpstreamError) throw error
    throw new NoResponseError(failureCode(error), timedOut ? timeoutMs : undefined)
  }
}

export interface AgentOptions {
  connections?: number
  connectMs?: number
  /** How long the service may be silent: from the last byte sent to the first of its response, and between two of them. */
  silenceMs: number
  /** Refuses names by the addresses they resolve to. */
  lookup?: LookupFunction
}

/** A connection pool of its own: nothing of the environment, such as a proxy, comes between. */
export function createAgent({ connections, connectMs = 10_000, silenceMs, lookup }: AgentOptions): Agent {
  return new Agent({
    ...(connections === undefined ? {} : { connections }),
    connect: { timeout: Math.min(connectMs, silenceMs), ...(lookup ? { lookup } : {}) },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })
}

export interface HeaderOptions {
  accept?: string
  /** Sent as a bearer. */
  token?: string
  /** Whether a JSON body is sent. */
  json?: boolean
}

export const requestHeaders = ({ accept = 'application/json', token, json }: HeaderOptions) => ({
  accept,
  'user-agent': 'cloudops',
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(json ? { 'content-type': 'application/json' } : {}),
})

export interface ReadOptions {
  /** Sees each chunk before it is kept; may throw to end the reading. */
  onChunk?: (chunk: Uint8Array, bytesSoFar: number) => void
  /** What came before the connection broke is returned instead of the error. */
  keepBroken?: boolean
}

export interface ReadBody {
  /** At most `maxBytes`. */
  content: Buffer
  /** The body is longer. */
  tooLong: boolean
}

/** The body up to so many bytes. Leaving the loop ends the connection, so that it does not keep pouring. */
export async function readBody(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  { onChunk, keepBroken = false }: ReadOptions = {},
): Promise<ReadBody> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) {
        chunks.push(chunk.subarray(0, chunk.byteLength - (bytes - maxBytes)))
        break
      }
      onChunk?.(chunk, bytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (!keepBroken) throw error
  }
  return { content: Buffer.concat(chunks), tooLong: bytes > maxBytes }
}

/** Retry-After in either of its forms, seconds or an HTTP date. Null when absent or not understood. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // Date.parse takes "-5" and "2.5" for dates; an HTTP date always names its weekday first.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

const LONGEST_TEXT = 300
const PROVIDER_TOKEN = /\bdo[por]_v1_[0-9a-z]+/gi

/** Text from outside, made fit for an error or a log: one line, bounded, without the secret or anything like a token. */
export function fitForDisplay(text: string, secret: string, shownAs = '[token]'): string {
  // Control characters would let a response forge log lines.
  const line = text
    .replaceAll(secret, shownAs)
    .replace(PROVIDER_TOKEN, '[token]')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line
}
