// Which answers deserve another attempt and how long to wait before it. Pure: no clock, no network.

const passing = new Set([429, 500, 502, 503, 504])

export function isPassingStatus(status: number): boolean {
  return passing.has(status)
}

/** Exponential backoff with full jitter: anything from nothing to the doubled base, so callers spread out. */
export function backoffMs(attempt: number, base: number, cap: number, random: () => number): number {
  return Math.round(random() * Math.min(cap, base * 2 ** (attempt - 1)))
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
