// Every bound of the provider client in one place (how fast, how long, how often, how much), and the rate limiter.
// The rates are the provider's own, per token (see specification/NOTICE.md for where they come from).
import type { Timer } from '../../kernel/retry.ts'
import { ProviderBusyError, ProviderError } from './errors.ts'

export interface Rate {
  requests: number
  windowMs: number
}

export interface Limits {
  /** Both hold at once; a request waits for the stricter one. */
  rates: readonly Rate[]
  /** Endpoints with a limit of their own, on top of the rates above. */
  endpointRates: Readonly<Record<string, Rate>>
  /** The longest wait a job may hold; past it the call throws ProviderBusyError. */
  maxWaitMs: number
  /** One attempt: headers and body together. */
  requestTimeoutMs: number
  /** One call with all its attempts and waits. */
  callDeadlineMs: number
  /** One listing with all its pages. */
  listingDeadlineMs: number
  /** Attempts of a read. A write has exactly one. */
  attempts: number
  backoffBaseMs: number
  backoffCapMs: number
  perPage: number
  maxPages: number
  /** A JSON response larger than this is refused rather than held in memory. */
  maxBodyBytes: number
  /** What a file that comes compressed may unfold to. It is asked for uncompressed, where its own length bounds it. */
  maxUnfoldedBytes: number
  /** The first pause between two polls, how it grows, and the longest. */
  pollBaseMs: number
  pollGrowth: number
  pollCapMs: number
  /** How long a write that got no response is looked for before it counts as not done. */
  settleMs: number
  /** How long one that should have shown by now is looked for once more. */
  recheckMs: number
  /** How long trouble that passes is borne where nothing else bounds it. */
  troubleMs: number
  /** How long a droplet may take to be active, and to be gone. */
  bootMs: number
  destroyMs: number
}

export const defaultLimits: Limits = {
  rates: [
    { requests: 5_000, windowMs: 3_600_000 },
    { requests: 250, windowMs: 60_000 },
  ],
  endpointRates: { '/v2/account/keys': { requests: 10, windowMs: 60_000 } },
  maxWaitMs: 60_000,
  requestTimeoutMs: 30_000,
  callDeadlineMs: 120_000,
  listingDeadlineMs: 600_000,
  attempts: 5,
  backoffBaseMs: 500,
  backoffCapMs: 20_000,
  perPage: 200,
  maxPages: 10_000,
  maxBodyBytes: 64 * 1024 * 1024,
  maxUnfoldedBytes: 256 * 1024 * 1024,
  pollBaseMs: 1_000,
  pollGrowth: 1.5,
  pollCapMs: 10_000,
  settleMs: 15_000,
  recheckMs: 5_000,
  troubleMs: 120_000,
  bootMs: 600_000,
  destroyMs: 300_000,
}

/** What the provider last said about the token's allowance; null until the first response. */
export interface Allowance {
  limit: number | null
  remaining: number
  resetAt: number
}

/**
 * How fast one token may ask: counts requests in the provider's own sliding windows (by the hour, by the minute, by
 * endpoint) and believes the provider's headers where they are stricter. It never retries.
 */
export interface ProviderRateLimiter {
  /** Waits for a slot and takes it. Throws ProviderBusyError rather than wait too long. */
  take(path: string, bounds: { deadlineAt: number; signal?: AbortSignal }): Promise<void>
  /** A request that took a slot has its response, or never will. */
  done(headers: { get(name: string): string | null } | null): void
  /** No request before this moment: the provider said so. */
  pauseUntil(at: number): void
  allowance(): Allowance | null
  /**
   * How many requests may leave now so that half of each window stays free for others; none while somebody waits for a slot
   * or the provider has asked for a pause.
   */
  spare(): number
}

/**
 * The last `requests` departures in a ring. A bucket that refills would let twice the rate through in the
 * first window; the provider counts a sliding window, so the oldest departure has to leave it first.
 */
function slidingWindow({ requests, windowMs }: Rate) {
  const departures = new Float64Array(requests).fill(Number.NEGATIVE_INFINITY)
  let oldest = 0
  return {
    requests,
    free: (now: number) => departures.reduce((free, at) => (at + windowMs <= now ? free + 1 : free), 0),
    waitMs: (now: number) => Math.max(0, (departures[oldest] as number) + windowMs - now),
    take(now: number) {
      departures[oldest] = now
      oldest = (oldest + 1) % requests
    },
  }
}

const LONGEST_PAUSE_MS = 3_600_000

export function createProviderRateLimiter(
  timer: Timer,
  limits: Pick<Limits, 'rates' | 'endpointRates' | 'maxWaitMs'>,
): ProviderRateLimiter {
  const shared = limits.rates.map(slidingWindow)
  const own = new Map(
    Object.entries(limits.endpointRates).map(([path, rate]) => [path, slidingWindow(rate)] as const),
  )
  let allowance: Allowance | null = null
  let pausedUntil = 0
  let inFlight = 0
  let waiting = 0

  function waitMs(path: string, now: number): number {
    const waits = shared.map(window => window.waitMs(now))
    waits.push(own.get(path)?.waitMs(now) ?? 0, pausedUntil - now)
    if (allowance && allowance.remaining <= 0) waits.push(allowance.resetAt - now)
    return Math.max(0, ...waits)
  }

  return {
    async take(path, { deadlineAt, signal }) {
      let waited = 0
      for (;;) {
        signal?.throwIfAborted()
        const now = timer.now()
        const wait = waitMs(path, now)
        if (wait === 0) break
        if (waited + wait > limits.maxWaitMs) {
          throw new ProviderBusyError(
            `the rate limit leaves no request for ${Math.ceil(wait / 1_000)} s`,
            wait,
          )
        }
        if (now + wait > deadlineAt) {
          throw new ProviderError('the deadline passes before the rate limit allows a request', {
            kind: 'deadline',
          })
        }
        waiting += 1
        try {
          await timer.sleep(wait, signal)
        } finally {
          waiting -= 1
        }
        waited += wait
      }
      const now = timer.now()
      for (const window of shared) window.take(now)
      own.get(path)?.take(now)
      // Past the reset the number is stale: the next response brings a fresh one.
      if (allowance && allowance.resetAt <= now) allowance = null
      if (allowance) allowance = { ...allowance, remaining: allowance.remaining - 1 }
      inFlight += 1
    },

    done(headers) {
      inFlight -= 1
      const remaining = wholeNumber(headers?.get('ratelimit-remaining'))
      const reset = wholeNumber(headers?.get('ratelimit-reset'))
      if (remaining === null || reset === null) return
      allowance = {
        limit: wholeNumber(headers?.get('ratelimit-limit')),
        // The others under way may not have been counted when this response was written.
        remaining: remaining - inFlight,
        // A reset further off than the longest window can only be a clock gone wrong.
        resetAt: Math.min(reset * 1_000, timer.now() + LONGEST_PAUSE_MS),
      }
    },

    pauseUntil(at) {
      pausedUntil = Math.max(pausedUntil, Math.min(at, timer.now() + LONGEST_PAUSE_MS))
    },

    allowance: () => allowance,

    spare() {
      const now = timer.now()
      if (waiting > 0 || pausedUntil > now) return 0
      const free = shared.map(window => window.free(now) - Math.ceil(window.requests / 2))
      if (allowance?.limit && allowance.resetAt > now)
        free.push(allowance.remaining - Math.ceil(allowance.limit / 2))
      return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, ...free))
    },
  }
}

export function wholeNumber(text: string | null | undefined): number | null {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : null
}
