// Time as the provider client sees it. Waiting goes through here, so a test can let an hour pass at once.
import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A clock by which waits take as long as they take. */
export const clockOf = (now: () => number): Clock => ({
  now,
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, { signal })
    } catch (error) {
      // Node rejects with its own AbortError; callers expect the reason that was given to the signal.
      signal?.throwIfAborted()
      throw error
    }
  },
})

export const systemClock: Clock = clockOf(() => Date.now())
