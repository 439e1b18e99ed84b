// Trying something again after a pause, and the time that passes meanwhile.
import { setTimeout as delay } from 'node:timers/promises'

/** Waiting goes through here, so that a test can let an hour pass at once. */
export interface Timer {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const timerOf = (now: () => number): Timer => ({ now, sleep })

export const systemTimer: Timer = timerOf(() => Date.now())

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    // Node rejects with its own AbortError; callers expect the reason that was given to the signal.
    signal?.throwIfAborted()
    throw error
  }
}

export interface RetryOptions {
  /** How long to wait before the next attempt; null: the error is thrown. `tried` counts from 1. */
  pauseAfter: (error: unknown, tried: number) => number | null
  sleep?: Timer['sleep']
  signal?: AbortSignal
}

export async function retry<T>(
  attempt: () => Promise<T>,
  { pauseAfter, sleep: pauseFor = sleep, signal }: RetryOptions,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      const pause = pauseAfter(error, tried)
      if (pause === null) throw error
      await pauseFor(pause, signal)
    }
  }
}

/** Exponential backoff with full jitter: anything from nothing to the doubled base, so that callers spread out. */
export function backoffMs(attempt: number, base: number, cap: number, random: () => number): number {
  return Math.round(random() * Math.min(cap, base * 2 ** (attempt - 1)))
}
