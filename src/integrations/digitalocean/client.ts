// The HTTP client of the provider: waits for the rate limiter, tries a read again when that may help, sends a write once.
// The provider knows no idempotency key, so after a write without a response the caller has to look it up.
import type { Logger } from 'pino'
import { type Dispatcher, fetch as undiciFetch } from 'undici'
import {
  fitForDisplay,
  NoResponseError,
  requestHeaders,
  retryAfterMs,
  withDeadline,
} from '../../kernel/http-client.ts'
import { backoffMs, retry, type Timer } from '../../kernel/retry.ts'
import { isPassingStatus, ProviderBusyError, ProviderError } from './errors.ts'
import type { paths } from './generated/api.d.ts'
import { createProviderRateLimiter, type Limits, type ProviderRateLimiter, wholeNumber } from './limits.ts'
import { bounded, malformed, parseObject, readText } from './responses.ts'

/** The part of fetch that is used; undici's own fits, and so does any stand-in. */
export type Fetch = (url: string, init: FetchInit) => Promise<ProviderResponse>

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  redirect: 'manual'
  signal: AbortSignal
  dispatcher?: Dispatcher
}

export interface ProviderRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path and query, already encoded, such as `/v2/droplets?page=1`. */
  target: string
  body?: string
  accept?: string
  acceptEncoding?: string
}

export interface ProviderResponse {
  status: number
  headers: { get(name: string): string | null }
  body: ReadableStream<Uint8Array> | null
}

type Post = { [P in keyof paths]: paths[P]['post'] extends undefined ? never : P }[keyof paths]

type JsonBody<Operation> = Operation extends { requestBody: { content: { 'application/json': infer B } } }
  ? B
  : Operation extends { requestBody?: { content: { 'application/json': infer B } } }
    ? B
    : never

export type PostBody<P extends Post> = JsonBody<paths[P]['post']>

// Requests are typed by the official specification, which keeps a typo from reaching the provider.

export function getRequest(path: keyof paths, ...params: string[]): ProviderRequest {
  return { method: 'GET', target: fillPath(path, params) }
}

export function postRequest<P extends Post>(
  path: P,
  body: PostBody<P>,
  ...params: string[]
): ProviderRequest {
  return { method: 'POST', target: fillPath(path, params), body: JSON.stringify(body) }
}

export function deleteRequest(path: keyof paths, ...params: string[]): ProviderRequest {
  return { method: 'DELETE', target: fillPath(path, params) }
}

/** Fills the `{placeholders}` in their order. */
export function fillPath(template: string, params: readonly string[]): string {
  let at = 0
  const path = template.replace(/\{[^{}]+\}/g, () => {
    const param = params[at++]
    // `..` survives encoding and would climb to another endpoint.
    if (!param || param === '.' || param === '..') throw new TypeError(`not an id: ${JSON.stringify(param)}`)
    return encodeURIComponent(param)
  })
  if (at !== params.length) throw new TypeError(`${template} takes ${at} ids, not ${params.length}`)
  return path
}

/** One token's way to the provider. It alone holds the token, which goes to the configured host and nowhere else. */
export interface Connection {
  /** One request; the timeout covers the headers and everything `read` awaits. */
  send<T>(
    request: ProviderRequest,
    bounds: { timeoutMs: number; signal?: AbortSignal },
    read: (response: ProviderResponse) => Promise<T>,
  ): Promise<T>
  /** Text from outside, without the token, in one bounded line. */
  scrub(text: string): string
  rateLimiter: ProviderRateLimiter
}

export interface ConnectionOptions {
  baseUrl: string
  token: string
  fetch?: Fetch
  dispatcher?: Dispatcher
  timer: Timer
  limits: Limits
  /** Clients of one token share one. */
  rateLimiter?: ProviderRateLimiter
}

export function createConnection(options: ConnectionOptions): Connection {
  const { baseUrl, token, dispatcher, timer, limits } = options
  const base = checkedBase(baseUrl)
  // fetch would name a header value it cannot send, token and all, in its error.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('the provider token is empty or not plain ASCII')
  const fetch: Fetch = options.fetch ?? (undiciFetch as unknown as Fetch)
  return {
    rateLimiter: options.rateLimiter ?? createProviderRateLimiter(timer, limits),
    scrub: text => fitForDisplay(text, token),
    async send({ method, target, body, accept, acceptEncoding }, bounds, read) {
      try {
        return await withDeadline(bounds, async signal => {
          const response = await fetch(base + target, {
            method,
            headers: {
              ...requestHeaders({ accept, token, json: body !== undefined }),
              ...(acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }),
            },
            ...(body === undefined ? {} : { body }),
            redirect: 'manual',
            signal,
            ...(dispatcher ? { dispatcher } : {}),
          })
          return await read(response)
        })
      } catch (error) {
        if (!(error instanceof NoResponseError)) throw error
        const write = method !== 'GET'
        if (error.timedOut) {
          const message = `no whole answer within ${bounds.timeoutMs} ms`
          throw new ProviderError(message, { kind: 'timeout', mayHaveHappened: write })
        }
        throw new ProviderError(`the connection failed (${fitForDisplay(error.code, token)})`, {
          kind: 'network',
          mayHaveHappened: write && !NEVER_CONNECTED.has(error.code),
        })
      }
    },
  }
}

/** Failures from before a byte was sent: whatever was asked for has not happened. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

function checkedBase(baseUrl: string): string {
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError('the provider URL is not an http(s) URL')
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('the provider URL carries more than a host and a path')
  }
  return url.href.replace(/\/+$/, '')
}

export interface CallOptions {
  signal?: AbortSignal
  /** By the client's timer; without it the call gets the usual deadline. */
  deadlineAt?: number
  /** Called for each request that is sent, the repeated ones too. */
  counted?: () => void
}

export interface ProviderClient {
  /** The JSON object of a 2xx response; null for a 204 and for a delete, whose status says it all. */
  json(request: ProviderRequest, options?: CallOptions): Promise<Record<string, unknown> | null>
  /** The bytes of a 2xx response as they come; only the headers are covered by the retries. */
  stream(request: ProviderRequest, options?: CallOptions): Promise<ReadableStream<Uint8Array>>
}

export interface ClientParts {
  /** Asked for at each attempt, so that a call under way goes on with a new token. Throws when there is none. */
  connection: () => Connection
  timer: Timer
  limits: Limits
  random: () => number
  log?: Pick<Logger, 'debug'>
}

type Read<T> = (response: ProviderResponse, connection: Connection) => Promise<T>

const LONGEST_HINT_MS = 3_600_000
const LONGEST_EXPLANATION = 64 * 1024

export function createClient({ connection, timer, limits, random, log }: ClientParts): ProviderClient {
  /** One attempt: a slot, a request, and every response that is not a 2xx turned into an error. */
  async function attempt<T>(
    request: ProviderRequest,
    { signal, deadlineAt, counted }: CallOptions & { deadlineAt: number },
    read: Read<T>,
  ): Promise<T> {
    if (timer.now() >= deadlineAt) throw new ProviderError('the deadline has passed', { kind: 'deadline' })
    const current = connection()
    const path = request.target.split('?', 1)[0] as string
    await current.rateLimiter.take(path, { deadlineAt, signal })
    counted?.()
    let headers: ProviderResponse['headers'] | null = null
    const timeoutMs = Math.max(1, Math.min(limits.requestTimeoutMs, deadlineAt - timer.now()))
    try {
      return await current.send(request, { timeoutMs, signal }, async response => {
        headers = response.headers
        if (response.status >= 200 && response.status < 300) return await read(response, current)
        throw await refusal(request, response, current)
      })
    } finally {
      current.rateLimiter.done(headers)
    }
  }

  async function refusal(
    { method }: ProviderRequest,
    response: ProviderResponse,
    current: Connection,
  ): Promise<ProviderError> {
    const { status, headers } = response
    if (status >= 300 && status < 400) {
      await response.body?.cancel()
      const message = `the provider redirected (${status}); the token goes to no other address`
      return new ProviderError(message, { kind: 'redirect', status })
    }
    const said = await explanation(response, current)
    // A 5xx to a write can come after the work was done.
    const details = { status, ...said, mayHaveHappened: method !== 'GET' && status >= 500 }
    const message = `the provider answered ${status}: ${said.providerMessage ?? said.code ?? 'no explanation'}`
    const now = timer.now()
    const hint = retryAfterMs(headers.get('retry-after'), now) ?? resetMs(headers, now)
    // Busy means "nothing happened, come back later": a write that met a 5xx must not be called that.
    if (status === 429 || (hint !== null && method === 'GET' && isPassingStatus(status))) {
      const wait = Math.min(hint ?? 0, LONGEST_HINT_MS)
      if (wait > 0) current.rateLimiter.pauseUntil(now + wait)
      return new ProviderBusyError(message, wait, details)
    }
    return new ProviderError(message, { ...details, kind: 'response' })
  }

  async function explanation({ headers, body }: ProviderResponse, { scrub }: Connection) {
    const text = (value: unknown) => (typeof value === 'string' && value ? scrub(value) : undefined)
    const fromHeader = text(headers.get('x-request-id'))
    try {
      const { id, message, request_id } = parseObject(await readText(body, LONGEST_EXPLANATION))
      return { code: text(id), providerMessage: text(message), requestId: text(request_id) ?? fromHeader }
    } catch (error) {
      // An error page that is no JSON is still the status it came with; a broken connection is not.
      if (error instanceof ProviderError) return { requestId: fromHeader }
      throw error
    }
  }

  /** How long to wait before the next attempt, or null when there is to be none. */
  function pauseAfter(error: unknown, { method }: ProviderRequest, tried: number): number | null {
    if (method !== 'GET' || !(error instanceof ProviderError) || tried >= limits.attempts) return null
    if (sentNothing(error)) return null
    const backoff = backoffMs(tried, limits.backoffBaseMs, limits.backoffCapMs, random)
    if (error instanceof ProviderBusyError) return Math.max(error.retryAfterMs, backoff)
    const passing = error.kind === 'response' && isPassingStatus(error.status ?? 0)
    return passing || error.kind === 'network' || error.kind === 'timeout' ? backoff : null
  }

  async function call<T>(request: ProviderRequest, options: CallOptions, read: Read<T>): Promise<T> {
    const { signal, deadlineAt = timer.now() + limits.callDeadlineMs, counted } = options
    try {
      return await retry(() => attempt(request, { signal, deadlineAt, counted }, read), {
        sleep: timer.sleep,
        signal,
        pauseAfter(error, tried) {
          const pause = pauseAfter(error, request, tried)
          const reason = error instanceof Error ? error.message : 'unknown'
          const named = `${request.method} ${request.target}`
          log?.debug({ call: named, tried, pause, reason }, 'provider call failed')
          const tooLong = pause !== null && (pause > limits.maxWaitMs || timer.now() + pause > deadlineAt)
          return tooLong ? null : pause
        },
      })
    } catch (error) {
      // A 429 without a hint, tried to the end: the longest wait is also the burst window's length.
      if (error instanceof ProviderBusyError && error.retryAfterMs === 0)
        throw new ProviderBusyError(error.message, limits.maxWaitMs, error)
      throw error
    }
  }

  return {
    json(request, options = {}) {
      return call(request, options, async ({ status, body }) => {
        if (status === 204 || request.method === 'DELETE') {
          await body?.cancel()
          return null
        }
        try {
          return parseObject(await readText(body, limits.maxBodyBytes))
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error
          throw malformed(error.message, request.method !== 'GET')
        }
      })
    },
    stream(request, options = {}) {
      return call(request, options, async ({ headers, body }, { scrub }) => {
        const type = headers.get('content-type') ?? ''
        if (body && !/html|json/.test(type)) {
          const plain = /^(identity)?$/i.test(headers.get('content-encoding') ?? '')
          return plain ? body : bounded(body, limits.maxUnfoldedBytes)
        }
        await body?.cancel()
        throw malformed(body ? `the answer is ${scrub(type)}, not a file` : 'the answer is empty')
      })
    },
  }
}

/** With nothing remaining, the reset says when the oldest request leaves the window and makes room. */
function resetMs(headers: ProviderResponse['headers'], now: number): number | null {
  const reset = wholeNumber(headers.get('ratelimit-reset'))
  if (wholeNumber(headers.get('ratelimit-remaining')) !== 0 || reset === null) return null
  return Math.max(0, reset * 1_000 - now)
}

/** The rate limiter refused before anything was sent: trying again at once would only meet the same refusal. */
const sentNothing = ({ status, kind }: ProviderError): boolean =>
  status === null && (kind === 'busy' || kind === 'deadline')
