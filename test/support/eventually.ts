// Waiting for something another process or a job does: asks until it holds, and says what it last saw when it never did.
import { setTimeout as pause } from 'node:timers/promises'

/** Between two askings: asking without a pause would take the processor from whoever is being waited for. */
const EVERY_MS = 10

/** Far more than anything takes, for a busy machine eats seconds; less than a test may take. */
const LONGEST_MS = 200_000

export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  withinMs = LONGEST_MS,
): Promise<T> {
  const until = Date.now() + withinMs
  for (;;) {
    const found = await ask()
    if (found !== undefined && found !== false) return found
    if (Date.now() > until) throw new Error(`it did not happen within ${withinMs} ms: ${what}`)
    await pause(EVERY_MS)
  }
}
