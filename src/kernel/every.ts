// Something that is done every so often until the process is told to stop: never twice at once, and an error ends one
// round only.
import type { Logger } from 'pino'

export interface Rounds {
  everyMs: number
  until: AbortSignal
  log: Logger
  /** What could not be done, for the log. */
  what: string
  /** Whether the first round is at once, and not after the first interval. */
  atOnce?: boolean
}

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
