// Carries a call to the provider: waits for the pace, tries a read again when that may help, sends a write
// once. The provider knows no idempotency key, so a write without an answer is the caller's to look up.
import type { Logger } from 'pino'
import { bounded, malformed, parseObject, readText } from './body.ts'
import type { Clock } from './clock.ts'
import { ProviderBusyError, ProviderError } from './errors.ts'
import type { Answer, Order } from './exchange.ts'
import type { Limits } from './limits.ts'
import type { Line } from './line.ts'
import { wholeNumber } from './pace.ts'
import { backoffMs, isPassingStatus, retryAfterMs } from './retry.ts'

export interface CallOptions {
  signal?: AbortSignal
  /** By the client's clock; without it the call gets the usual deadline. */
  deadlineAt?: number
}

export interface Courier {
  /** The JSON object of a 2xx answer; null for a 204 and for a delete, whose status says it all. */
  json(order: Order, options?: CallOptions): Promise<Record<string, unknown> | null>
  /** The bytes of a 2xx answer as they come; only the headers are covered by the retries. */
  stream(order: Order, options?: CallOptions): Promise<ReadableStream<Uint8Array>>
}

export interface CourierParts {
  /** Asked for at each attempt, so that a call under way goes on with a new token. Throws when there is none. */
  line: () => Line
  clock: Clock
  limits: Limits
  random: () => number
  log?: Pick<Logger, 'debug'>
}

const longestHintMs = 3_600_000

export function createCourier({ line, clock, limits, random, log }: CourierParts): Courier {
  /** One attempt: a slot, an exchange, and every answer that is not a 2xx turned into an error. */
  async function attempt<T>(
    order: Order,
    { signal, deadlineAt }: { signal?: AbortSignal; deadlineAt: number },
    read: (answer: Answer, line: Line) => Promise<T>,
  ): Promise<T> {
    const current = line()
    const { exchange, pace } = current
    const path = order.target.split('?', 1)[0] as string
    await pace.take(path, { deadlineAt, signal })
    const seen: { headers: Answer['headers'] | null } = { headers: null }
    const timeoutMs = Math.max(1, Math.min(limits.requestTimeoutMs, deadlineAt - clock.now()))
    try {
      return await exchange.send(order, { timeoutMs, signal }, async answer => {
        seen.headers = answer.headers
        if (answer.status >= 200 && answer.status < 300) return await read(answer, current)
        throw await refusal(order, answer, current)
      })
    } finally {
      pace.done(seen.headers)
    }
  }

  async function refusal(order: Order, answer: Answer, { exchange, pace }: Line): Promise<ProviderError> {
    const { status } = answer
    if (status >= 300 && status < 400) {
      await answer.body?.cancel()
      const message = `the provider redirected (${status}); the token goes to no other address`
      return new ProviderError(message, { kind: 'redirect', status })
    }
    const said = await explanation(answer, exchange)
    const details = {
      status,
      ...said,
      // A 5xx to a write can come after the work was done.
      mayHaveHappened: order.method !== 'GET' && status >= 500,
    }
    const words = said.providerMessage ?? said.code ?? 'no explanation'
    const message = `the provider answered ${status}: ${words}`
    const now = clock.now()
    const hint = retryAfterMs(answer.headers.get('retry-after'), now) ?? resetMs(answer.headers, now)
    // Busy means "nothing happened, come back later": a write that met a 5xx must not be called that.
    if (status === 429 || (hint !== null && order.method === 'GET' && isPassingStatus(status))) {
      const wait = Math.min(hint ?? 0, longestHintMs)
      if (wait > 0) pace.pauseUntil(now + wait)
      return new ProviderBusyError(message, wait, details)
    }
    return new ProviderError(message, { ...details, kind: 'answer' })
  }

  async function explanation(answer: Answer, exchange: Line['exchange']) {
    const text = (value: unknown) => (typeof value === 'string' && value ? exchange.scrub(value) : undefined)
    const fromHeader = text(answer.headers.get('x-request-id'))
    try {
      const body = parseObject(await readText(answer.body, 64 * 1024))
      return {
        code: text(body.id),
        providerMessage: text(body.message),
        requestId: text(body.request_id) ?? fromHeader,
      }
    } catch (error) {
      // An error page that is no JSON is still the status it came with; a broken connection is not.
      if (error instanceof ProviderError) return { requestId: fromHeader }
      throw error
    }
  }

  /** How long to wait before the next attempt, or null when there is to be none. */
  function pauseAfter(error: unknown, order: Order, tried: number): number | null {
    if (order.method !== 'GET' || !(error instanceof ProviderError) || tried >= limits.attempts) return null
    const backoff = backoffMs(tried, limits.backoffBaseMs, limits.backoffCapMs, random)
    if (error instanceof ProviderBusyError) return Math.max(error.retryAfterMs, backoff)
    const passing = error.kind === 'answer' && isPassingStatus(error.status ?? 0)
    return passing || error.kind === 'network' || error.kind === 'timeout' ? backoff : null
  }

  async function carry<T>(
    order: Order,
    options: CallOptions,
    read: (answer: Answer, line: Line) => Promise<T>,
  ): Promise<T> {
    const { signal, deadlineAt = clock.now() + limits.callDeadlineMs } = options
    for (let tried = 1; ; tried += 1) {
      try {
        if (clock.now() >= deadlineAt)
          throw new ProviderError('the deadline has passed', { kind: 'deadline' })
        return await attempt(order, { signal, deadlineAt }, read)
      } catch (error) {
        const pause = sentNothing(error) ? null : pauseAfter(error, order, tried)
        log?.debug({ order: describe(order), tried, pause, reason: reasonOf(error) }, 'provider call failed')
        if (pause === null || pause > limits.maxWaitMs || clock.now() + pause > deadlineAt)
          throw withHint(error)
        await clock.sleep(pause, signal)
      }
    }
  }

  /** A 429 without a hint, tried to the end: the longest wait is also the burst window's length. */
  function withHint(error: unknown): unknown {
    if (!(error instanceof ProviderBusyError) || error.retryAfterMs > 0) return error
    return new ProviderBusyError(error.message, limits.maxWaitMs, error)
  }

  return {
    json(order, options = {}) {
      return carry(order, options, async answer => {
        if (answer.status === 204 || order.method === 'DELETE') {
          await answer.body?.cancel()
          return null
        }
        try {
          return parseObject(await readText(answer.body, limits.maxBodyBytes))
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error
          throw malformed(error.message, order.method !== 'GET')
        }
      })
    },
    stream(order, options = {}) {
      return carry(order, options, async (answer, { exchange }) => {
        const type = answer.headers.get('content-type') ?? ''
        if (answer.body && !/html|json/.test(type)) {
          const plain = /^(identity)?$/i.test(answer.headers.get('content-encoding') ?? '')
          return plain ? answer.body : bounded(answer.body, limits.maxUnfoldedBytes)
        }
        await answer.body?.cancel()
        throw malformed(
          answer.body ? `the answer is ${exchange.scrub(type)}, not a file` : 'the answer is empty',
        )
      })
    },
  }
}

/** With nothing remaining, the reset says when the oldest request leaves the window and makes room. */
function resetMs(headers: Answer['headers'], now: number): number | null {
  const reset = wholeNumber(headers.get('ratelimit-reset'))
  if (wholeNumber(headers.get('ratelimit-remaining')) !== 0 || reset === null) return null
  return Math.max(0, reset * 1_000 - now)
}

/** The pace refused before anything was sent: trying again at once would only meet the same refusal. */
function sentNothing(error: unknown): boolean {
  return (
    error instanceof ProviderError &&
    error.status === null &&
    (error.kind === 'busy' || error.kind === 'deadline')
  )
}

function describe(order: Order): string {
  return `${order.method} ${order.target}`
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
