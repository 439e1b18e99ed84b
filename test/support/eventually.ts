// Waiting for something another process or a job does: asks until it holds, and says what it last saw when it never did.
import { setTimeout as pause } from 'node:timers/promises'

/** Between two askings: asking without a pause would take the processor from whoever is being waited for. */
const EVERY_MS = 10

export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  withinMs = 15_000,
): Promise<T> {
  const until = Date.now() + withinMs
  for (;;) {
    const found = await ask()
    if (found !== undefined && found !== false) return found
    if (Date.now() > until) throw new Error(`it did not happen within ${withinMs} ms: ${what}`)
    await pause(EVERY_MS)
  }
}
