// Counts by key within a window of a minute. Its memory is bounded: of more keys than it remembers, the one that was
// counted longest ago is forgotten.
import type { Clock } from '../time.ts'

const WINDOW_MS = 60_000
const MOST_KEYS = 20_000

export interface Count {
  /** How many more there may be in this window; below zero: it was one too many. */
  left: number
  /** Until the window ends. */
  seconds: number
}

export interface RateLimiter {
  limit: number
  count(key: string): Count
  /** As it stands, without counting. */
  look(key: string): Count
}

export function rateLimiter(limit: number, clock: Clock, mostKeys = MOST_KEYS): RateLimiter {
  const windows = new Map<string, { used: number; endsAt: number }>()

  function windowOf(key: string, now: number) {
    const known = windows.get(key)
    return known && known.endsAt > now ? known : { used: 0, endsAt: now + WINDOW_MS }
  }

  const countOf = ({ used, endsAt }: { used: number; endsAt: number }, now: number): Count => ({
    left: limit - used,
    seconds: Math.ceil((endsAt - now) / 1000),
  })

  return {
    limit,
    look(key) {
      const now = clock.now().getTime()
      return countOf(windowOf(key, now), now)
    },
    count(key) {
      const now = clock.now().getTime()
      const window = windowOf(key, now)
      window.used += 1
      // Put at the end, so that the first is the one that was counted longest ago.
      windows.delete(key)
      windows.set(key, window)
      if (windows.size > mostKeys) windows.delete(windows.keys().next().value!)
      return countOf(window, now)
    },
  }
}
