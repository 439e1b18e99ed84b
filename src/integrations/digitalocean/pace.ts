// How fast one token may ask. Counts requests in the provider's own sliding windows (by the hour, by the
// minute, by endpoint) and believes the provider's headers where they are stricter. It never retries.
import type { Clock } from './clock.ts'
import { ProviderBusyError, ProviderError } from './errors.ts'
import type { Limits, Rate } from './limits.ts'

/** What the provider last said about the token's allowance; null until the first answer. */
export interface Allowance {
  limit: number | null
  remaining: number
  resetAt: number
}

export interface Pace {
  /** Waits for a slot and takes it. Throws ProviderBusyError rather than wait too long. */
  take(path: string, bounds: { deadlineAt: number; signal?: AbortSignal }): Promise<void>
  /** A request that took a slot has its answer, or never will. */
  done(headers: { get(name: string): string | null } | null): void
  /** No request before this moment: the provider said so. */
  pauseUntil(at: number): void
  allowance(): Allowance | null
}

/**
 * The last `requests` departures in a ring. A bucket that refills would let twice the rate through in the
 * first window; the provider counts a sliding window, so the oldest departure has to leave it first.
 */
function slidingWindow({ requests, windowMs }: Rate) {
  const departures = new Float64Array(requests).fill(Number.NEGATIVE_INFINITY)
  let oldest = 0
  return {
    waitMs: (now: number) => Math.max(0, (departures[oldest] as number) + windowMs - now),
    take(now: number) {
      departures[oldest] = now
      oldest = (oldest + 1) % requests
    },
  }
}

const longestPauseMs = 3_600_000

export function createPace(
  clock: Clock,
  limits: Pick<Limits, 'rates' | 'endpointRates' | 'maxWaitMs'>,
): Pace {
  const shared = limits.rates.map(slidingWindow)
  const own = new Map(
    Object.entries(limits.endpointRates).map(([path, rate]) => [path, slidingWindow(rate)] as const),
  )
  let allowance: Allowance | null = null
  let pausedUntil = 0
  let inFlight = 0

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
        const now = clock.now()
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
        await clock.sleep(wait, signal)
        waited += wait
      }
      const now = clock.now()
      for (const window of shared) window.take(now)
      own.get(path)?.take(now)
      // Past the reset the number is stale: the next answer brings a fresh one.
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
        // The others under way may not have been counted when this answer was written.
        remaining: remaining - inFlight,
        // A reset further off than the longest window can only be a clock gone wrong.
        resetAt: Math.min(reset * 1_000, clock.now() + longestPauseMs),
      }
    },

    pauseUntil(at) {
      pausedUntil = Math.max(pausedUntil, Math.min(at, clock.now() + longestPauseMs))
    },

    allowance: () => allowance,
  }
}

export function wholeNumber(text: string | null | undefined): number | null {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : null
}
