// Time: the clock that is handed in, calendar months, deadlines, and what is done every so often.
import type { Logger } from 'pino'

/** Tests freeze it, a running process takes the database's (db/database-clock.ts). */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** What a process's time is made of: its machine's clock, and the time that only ever passes. Milliseconds both. */
export interface Machine {
  wall(): number
  elapsed(): number
}

export const thisMachine: Machine = { wall: () => Date.now(), elapsed: () => performance.now() }

let ofProcess: Clock = systemClock

/** From now on what is made without a clock at hand (ids) is dated by this one. */
export function dateIdsBy(clock: Clock): void {
  ofProcess = clock
}

/** Milliseconds since the epoch by the process's clock. */
export const processTime = (): number => ofProcess.now().getTime()

/** A calendar month in UTC. */
export interface Month {
  /** `YYYY-MM` */
  period: string
  first_day: string
  last_day: string
  start_at: string
  /** The first moment that is no longer in it. */
  end_at: string
}

/** The month of a day, a time or a month: `2026-12`, `2026-12-14`, `2026-12-14T08:00:00Z`; of a Date by UTC. */
export function monthOf(date: string | Date): Month {
  const period = (typeof date === 'string' ? date : date.toISOString()).slice(0, 7)
  const [start_at, end] = [`${period}-01T00:00:00.000Z`, new Date(`${period}-01T00:00:00Z`)]
  end.setUTCMonth(end.getUTCMonth() + 1)
  const last_day = new Date(end.getTime() - 1).toISOString().slice(0, 10)
  return { period, first_day: `${period}-01`, last_day, start_at, end_at: end.toISOString() }
}

/** `2026-12-14` → `2027-01-01`: where a month ends, when its end is not part of it. */
export const firstDayAfter = (day: string): string => monthOf(day).end_at.slice(0, 10)

/** A promise that does not wait for ever. The work itself goes on; only the waiting ends. */
export async function within<T>(ms: number, message: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms)
  })
  // The work may still fail after the deadline has been reported; nobody is listening then.
  work.catch(() => {})
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}

export interface Rounds {
  everyMs: number
  until: AbortSignal
  log: Logger
  /** What could not be done, for the log. */
  what: string
  /** Whether the first round is at once, and not after the first interval. */
  atOnce?: boolean
}

/** Until the process is told to stop: never twice at once, and an error ends one round only. */
export function every(
  { everyMs, until, log, what, atOnce = false }: Rounds,
  round: () => Promise<void>,
): void {
  let busy = false
  const go = async () => {
    if (busy || until.aborted) return
    busy = true
    try {
      await round()
    } catch (error) {
      log.warn({ err: error }, `${what} could not be done`)
    } finally {
      busy = false
    }
  }
  const timer = setInterval(go, everyMs).unref()
  until.addEventListener('abort', () => clearInterval(timer), { once: true })
  if (atOnce) void go()
}
