// Work that needs the database and nothing else waits while the database is away, for nobody else could do it either.
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { problemOfDatabaseError } from './sql-state.ts'

export interface Waiting {
  /** Ends the waiting; the database's last error is thrown then. */
  signal: AbortSignal
  log: Logger
  /** What waits, for the log. */
  what: string
  /** Called when the waiting begins. */
  onWait?: () => void
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Tries again as long as the database does not answer. A connection that broke says nothing about what was sent over it:
 * the work is told that it is not the first attempt, and must be safe to do twice or look for what it did.
 */
export async function waitForDatabase<T>(
  work: (again: boolean) => Promise<T>,
  { signal, log, what, onWait }: Waiting,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt > 0)
    } catch (error) {
      if (!isDatabaseAway(error) || signal.aborted) throw error
      onWait?.()
      // The first time at once: most often a single connection broke.
      const pauseMs = attempt === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1))
      log.warn({ err: error, retry_in_ms: pauseMs }, `${what} waits for the database`)
      await pause(pauseMs, undefined, { signal }).catch(() => {
        throw error
      })
    }
  }
}

export const isDatabaseAway = (error: unknown): boolean =>
  problemOfDatabaseError(error)?.kind === 'unavailable'
