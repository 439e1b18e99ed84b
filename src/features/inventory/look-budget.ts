// How much of the provider's rate limit looking between the sweeps may take: a quarter of each window, whichever node looks.
// Pure, but for what it is told.
import type { Provider } from '../../integrations/digitalocean/index.ts'

/** Requests that were made to look, by the minute that they were made in. */
export interface SpentMinute {
  minute: string
  requests: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const SHARE = 4

type Pace = Pick<Provider, 'rates' | 'allowance'>

/** Requests that the provider allows in each window; its own word on the hour counts where it is less. */
function windowsOf({ rates, allowance }: Pace) {
  const limit = allowance()?.limit
  return rates.map(({ requests, windowMs }) => ({
    requests: windowMs === HOUR_MS && limit ? Math.min(limit, requests) : requests,
    windowMs,
  }))
}

/** A minute that began inside the window, or reaches into it, counts whole. */
const spentWithin = (spent: readonly SpentMinute[], windowMs: number, now: number): number =>
  spent
    .filter(({ minute }) => Date.parse(minute) + MINUTE_MS > now - windowMs)
    .reduce((sum, { requests }) => sum + requests, 0)

/** Requests left for looking. */
export function lookBudget(pace: Pace, spent: readonly SpentMinute[], now: Date): number {
  const left = windowsOf(pace).map(
    ({ requests, windowMs }) => Math.floor(requests / SHARE) - spentWithin(spent, windowMs, now.getTime()),
  )
  return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, ...left))
}

/** The largest part of any window that looking has used: 0.25 at most. */
export function lookShare(pace: Pace, spent: readonly SpentMinute[], now: Date): number {
  const shares = windowsOf(pace).map(
    ({ requests, windowMs }) => spentWithin(spent, windowMs, now.getTime()) / requests,
  )
  return Math.max(0, ...shares)
}

const SHORTEST_TURN_MS = 60_000
const REFUSED_TURN_MS = 600_000

/** How long until a kind is listed again: each costs one request a minute at most, however many pages it has. */
export const turnAfter = (requests: number, whole: boolean): number =>
  whole ? Math.max(1, requests) * SHORTEST_TURN_MS : REFUSED_TURN_MS
