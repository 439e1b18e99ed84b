// One HTTP exchange with the provider: one request out, one bounded answer in, nothing tried twice.
// Only this file holds the token. It goes to the configured host alone, so redirects are never followed.
import { type Dispatcher, fetch as undiciFetch } from 'undici'
import { failureCode } from '../../kernel/errors.ts'
import { fitForDisplay, ProviderError } from './errors.ts'

/** The part of fetch that is used; undici's own fits, and so does any stand-in. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  redirect: 'manual'
  signal: AbortSignal
  dispatcher?: Dispatcher
}

export interface FetchAnswer {
  status: number
  headers: { get(name: string): string | null }
  body: ReadableStream<Uint8Array> | null
}

export interface Order {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path and query, already encoded, such as `/v2/droplets?page=1`. */
  target: string
  body?: string
  accept?: string
  acceptEncoding?: string
}

export interface Answer {
  status: number
  headers: FetchAnswer['headers']
  body: ReadableStream<Uint8Array> | null
}

export interface Exchange {
  /** Runs `read` on the answer; the timeout covers the headers and everything `read` awaits. */
  send<T>(order: Order, bounds: Bounds, read: (answer: Answer) => Promise<T>): Promise<T>
  /** Text from outside, without the token, in one bounded line. */
  scrub(text: string): string
}

export interface Bounds {
  timeoutMs: number
  signal?: AbortSignal
}

export interface ExchangeOptions {
  baseUrl: string
  token: string
  fetch?: Fetch
  dispatcher?: Dispatcher
}

export function createExchange({ baseUrl, token, fetch, dispatcher }: ExchangeOptions): Exchange {
  const base = checkedBase(baseUrl)
  // fetch would name a header value it cannot send, token and all, in its error.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('the provider token is empty or not plain ASCII')
  const call: Fetch = fetch ?? (undiciFetch as unknown as Fetch)
  const scrub = (text: string) => fitForDisplay(text, token)

  async function send<T>(order: Order, { timeoutMs, signal }: Bounds, read: (answer: Answer) => Promise<T>) {
    signal?.throwIfAborted()
    const write = order.method !== 'GET'
    const controller = new AbortController()
    const onAbort = () => controller.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      controller.abort()
    }, timeoutMs)
    try {
      const answer = await call(base + order.target, {
        method: order.method,
        headers: {
          accept: order.accept ?? 'application/json',
          ...(order.acceptEncoding === undefined ? {} : { 'accept-encoding': order.acceptEncoding }),
          authorization: `Bearer ${token}`,
          'user-agent': 'cloudops',
          ...(order.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(order.body === undefined ? {} : { body: order.body }),
        redirect: 'manual',
        signal: controller.signal,
        ...(dispatcher ? { dispatcher } : {}),
      })
      return await read(answer)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ProviderError) throw error
      if (timedOut) {
        const message = `no whole answer within ${timeoutMs} ms`
        throw new ProviderError(message, { kind: 'timeout', mayHaveHappened: write })
      }
      // The cause is left out on purpose: it belongs to the HTTP library and may show the request.
      const code = failureCode(error)
      const message = `the connection failed (${scrub(code)})`
      throw new ProviderError(message, {
        kind: 'network',
        mayHaveHappened: write && !neverConnected.has(code),
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }
  return { send, scrub }
}

/** Failures from before a byte was sent: whatever was asked for has not happened. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

function checkedBase(baseUrl: string): string {
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError('the provider URL is not an http(s) URL')
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('the provider URL carries more than a host and a path')
  }
  return url.href.replace(/\/+$/, '')
}
