// Every worker looks for what is due: each second, and at once when something it was sending is done.
import type { Deps } from '../../deps.ts'
import { createCourier } from './deliver-due.ts'

const LOOK_MS = 1_000

/** Looks until the process is told to stop. */
export function watchOutbox(deps: Deps): void {
  const { jobs, log } = deps
  const courier = createCourier(deps)
  let looking = false
  let again = false

  function look(): void {
    if (jobs.leaving.aborted) return
    if (looking) again = true
    else jobs.background(takeAll())
  }

  async function takeAll(): Promise<void> {
    looking = true
    try {
      do {
        again = false
        for (const sent of await courier.takeDue()) jobs.background(sent.finally(look))
      } while (again && !jobs.leaving.aborted)
    } catch (error) {
      log.warn({ err: error }, 'the outbox of webhooks could not be read')
    } finally {
      looking = false
    }
  }

  const timer = setInterval(look, LOOK_MS).unref()
  jobs.leaving.addEventListener('abort', () => clearInterval(timer), { once: true })
}
