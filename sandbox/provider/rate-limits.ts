// Decides when a token has asked too often: two sliding windows for each token, an hour and a minute, and
// the tighter one the provider keeps for the list of SSH keys. Only the burst refusal says when to return.
import { tooManyRequests } from './protocol.ts'

export type RateLimits = { perHour?: number | false; perMinute?: number | false }

const HOUR = 3_600_000
const MINUTE = 60_000

/** The moments of the last requests; those that left the window are dropped from the front. */
class SlidingWindow {
  readonly limit: number
  readonly length: number
  #moments: number[] = []
  #from = 0

  constructor(limit: number, length: number) {
    this.limit = limit
    this.length = length
  }

  used(now: number): number {
    while (this.#from < this.#moments.length && this.#moments[this.#from]! <= now - this.length)
      this.#from += 1
    if (this.#from > 1000) {
      this.#moments = this.#moments.slice(this.#from)
      this.#from = 0
    }
    return this.#moments.length - this.#from
  }

  add(now: number): void {
    this.#moments.push(now)
  }

  /** When the oldest request leaves the window: not when all of them have. */
  oldestLeaves(now: number): number {
    return (this.used(now) === 0 ? now : this.#moments[this.#from]!) + this.length
  }
}

type Windows = { hour?: SlidingWindow; minute?: SlidingWindow; keys?: SlidingWindow }

export function createRateLimiter(limits: RateLimits | false) {
  const hourly = limits === false ? false : (limits.perHour ?? 5000)
  const minutely = limits === false ? false : (limits.perMinute ?? 250)
  const tokens = new Map<string, Windows>()

  const windowsOf = (token: string): Windows => {
    let windows = tokens.get(token)
    if (windows === undefined) {
      windows = {
        ...(hourly === false ? {} : { hour: new SlidingWindow(hourly, HOUR) }),
        ...(minutely === false ? {} : { minute: new SlidingWindow(minutely, MINUTE) }),
        ...(limits === false ? {} : { keys: new SlidingWindow(10, MINUTE) }),
      }
      tokens.set(token, windows)
    }
    return windows
  }

  return {
    /** The three headers every answer carries. Turned off, the window always looks untouched. */
    headers(token: string, at: Date): Record<string, string> {
      const now = at.getTime()
      const { hour } = windowsOf(token)
      const remaining = hour === undefined ? 5000 : Math.max(0, hour.limit - hour.used(now))
      const reset = hour === undefined ? now + HOUR : hour.oldestLeaves(now)
      return {
        'ratelimit-limit': String(hour?.limit ?? 5000),
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(Math.ceil(reset / 1000)),
      }
    },

    /** Counts the request, or refuses it; a refused request does not count. */
    admit(token: string, path: string, at: Date): void {
      const now = at.getTime()
      const { hour, minute, keys } = windowsOf(token)
      const burst = path === '/v2/account/keys' ? [minute, keys] : [minute]
      for (const window of burst) {
        if (window !== undefined && window.used(now) >= window.limit) {
          const seconds = Math.max(1, Math.ceil((window.oldestLeaves(now) - now) / 1000))
          throw tooManyRequests({ 'retry-after': String(seconds) })
        }
      }
      if (hour !== undefined && hour.used(now) >= hour.limit) throw tooManyRequests()
      for (const window of [hour, ...burst]) window?.add(now)
    },
  }
}
