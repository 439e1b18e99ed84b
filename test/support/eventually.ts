// Waiting for something another process or a job does: asks until it holds, and says what it last saw when it never did.
import { setTimeout as pause } from 'node:timers/promises'

/** Between two askings: asking without a pause would take the processor from whoever is being waited for. */
const SHORTEST_PAUSE_MS = 10
/** What is waited for long is asked for less often: a tenth of the time that has passed, and no longer than this. */
const LONGEST_PAUSE_MS = 250

/** Far more than anything takes, for a busy machine eats seconds; less than a test may take. */
const LONGEST_MS = 200_000

export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  withinMs = LONGEST_MS,
): Promise<T> {
  const since = Date.now()
  for (;;) {
    const found = await ask()
    if (found !== undefined && found !== false) return found
    const passed = Date.now() - since
    if (passed > withinMs) throw new Error(`it did not happen within ${withinMs} ms: ${what}`)
    await pause(Math.min(Math.max(passed / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS))
  }
}
