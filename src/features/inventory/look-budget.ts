// How much of the provider's rate limit looking between the sweeps may take: a quarter of each window, whichever node looks.
// Pure, but for what it is told.
import type { Provider } from '../../integrations/digitalocean/index.ts'

/** Requests that were made to look within some seconds, and when those ended. */
export interface Spent {
  until: string
  requests: number
}

const HOUR_MS = 3_600_000
const SHARE = 4
/** Of that quarter, for following the actions alone: 20 minutes of it, while the rest has used up its hour. */
const KEPT = 10

type Pace = Pick<Provider, 'rates' | 'allowance'>

/** Requests that the provider allows in each window; its own word on the hour counts where it is less. */
function windowsOf({ rates, allowance }: Pace) {
  const limit = allowance()?.limit
  return rates.map(({ requests, windowMs }) => ({
    requests: windowMs === HOUR_MS && limit ? Math.min(limit, requests) : requests,
    windowMs,
  }))
}

/** What reaches into the window counts whole. */
const spentWithin = (spent: readonly Spent[], windowMs: number, now: number): number =>
  spent
    .filter(({ until }) => Date.parse(until) > now - windowMs)
    .reduce((sum, { requests }) => sum + requests, 0)

/** Requests left for looking; with `leavingSome`, for what leaves some of them to who follows the actions. */
export function lookBudget(pace: Pace, spent: readonly Spent[], now: Date, leavingSome = false): number {
  const left = windowsOf(pace).map(({ requests, windowMs }) => {
    const quarter = Math.floor(requests / SHARE)
    const kept = leavingSome ? Math.ceil(quarter / KEPT) : 0
    return quarter - kept - spentWithin(spent, windowMs, now.getTime())
  })
  return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, ...left))
}

/** The largest part of any window that looking has used: 0.25 at most. */
export function lookShare(pace: Pace, spent: readonly Spent[], now: Date): number {
  const shares = windowsOf(pace).map(
    ({ requests, windowMs }) => spentWithin(spent, windowMs, now.getTime()) / requests,
  )
  return Math.max(0, ...shares)
}

const SHORTEST_TURN_MS = 60_000
const LONGEST_RETRY_MS = 600_000

/** How long until a kind that was listed whole is listed again: it costs one request a minute, however many pages it has. */
export const turnAfter = (pages: number): number => Math.max(1, pages) * SHORTEST_TURN_MS

/**
 * How long until a kind is listed again that was not listed whole, by the time since it last was: at once when that was just
 * now, and ever less often the longer it goes on. Null: it never was.
 */
export const retryAfterPartial = (sinceWholeMs: number | null): number =>
  sinceWholeMs === null ? LONGEST_RETRY_MS : Math.min(LONGEST_RETRY_MS, Math.max(0, sinceWholeMs) / 8)

/** For each of their pages: how long the projects' lists are not read again although something new was found. */
export const PLACES_AFTER_MS = 15_000
