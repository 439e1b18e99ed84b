// The steps of a slider over a time that is known: whole minutes, hours or days where the reader is, no more than can be told
// apart.

const MINUTE_MS = 60_000
const STEPS_MS = [1, 5, 15, 60, 360, 1440].map(minutes => minutes * MINUTE_MS)
const MOST = 500

export interface Scale {
  first: number
  /** Now. */
  last: number
  /** Where a moment in the past stands. */
  positionOf: (time: number) => number
  /** Undefined: now. */
  momentAt: (position: number) => number | undefined
}

/** `behindMs`: how far local time is behind UTC. */
export function scaleOf(since: number, now: number, behindMs: number): Scale {
  const step = STEPS_MS.find(one => (now - since) / one <= MOST) ?? STEPS_MS.at(-1)!
  const steps = (time: number) => (time - behindMs) / step
  const first = Math.floor(steps(since))
  const last = Math.max(Math.ceil(steps(now)), first + 1)
  return {
    first,
    last,
    positionOf: time => Math.min(Math.max(Math.floor(steps(time)), first), last - 1),
    // The first step may begin before anything was known.
    momentAt: position => (position >= last ? undefined : Math.max(position * step + behindMs, since)),
  }
}
