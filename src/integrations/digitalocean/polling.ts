// Polling the provider with growing pauses until there is a result: bears trouble that passes, and gives up when its time
// is over or the signal says so.
import type { Timer } from '../../kernel/retry.ts'
import { ProviderBusyError, ProviderError, passes } from './errors.ts'
import type { Limits } from './limits.ts'

export interface PollOptions {
  /** Without it: as long as trouble is borne. */
  withinMs?: number
  signal?: AbortSignal
  /** Trouble that is worth another try; what is not is thrown at once. */
  bears?: (error: ProviderError) => boolean
}

export interface Polling {
  /** The first result that is not undefined. When the time is over: undefined, or the trouble that was met last. */
  poll<T>(ask: () => Promise<T | undefined>, options: PollOptions): Promise<T | undefined>
}

export function createPolling(
  timer: Timer,
  limits: Pick<Limits, 'pollBaseMs' | 'pollCapMs' | 'pollGrowth' | 'troubleMs'>,
): Polling {
  return {
    async poll(ask, { withinMs = limits.troubleMs, signal, bears = passes }) {
      const endAt = timer.now() + withinMs
      let pause = limits.pollBaseMs
      for (;;) {
        let trouble: ProviderError | undefined
        try {
          const result = await ask()
          if (result !== undefined) return result
        } catch (error) {
          if (!(error instanceof ProviderError) || !bears(error)) throw error
          trouble = error
        }
        const wait = trouble instanceof ProviderBusyError ? Math.max(pause, trouble.retryAfterMs) : pause
        if (timer.now() + wait > endAt) {
          if (trouble) throw trouble
          return undefined
        }
        await timer.sleep(wait, signal)
        pause = Math.min(limits.pollCapMs, pause * limits.pollGrowth)
      }
    },
  }
}
