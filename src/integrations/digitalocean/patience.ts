// Waiting for something at the provider: asks again and again with growing pauses, bears trouble that passes, and gives
// up when its time is over or the signal says so.
import type { Clock } from './clock.ts'
import { ProviderBusyError, ProviderError } from './errors.ts'
import type { Limits } from './limits.ts'
import { isPassingStatus } from './retry.ts'

export interface Wait {
  /** Without it: as long as trouble is borne. */
  withinMs?: number
  signal?: AbortSignal
  /** Trouble that is worth another try; what is not is thrown at once. */
  bears?: (error: ProviderError) => boolean
}

export interface Patience {
  /** The first answer that is not undefined. When the time is over: undefined, or the trouble that was met last. */
  until<T>(ask: () => Promise<T | undefined>, wait: Wait): Promise<T | undefined>
}

export function createPatience(
  clock: Clock,
  limits: Pick<Limits, 'pollBaseMs' | 'pollCapMs' | 'pollGrowth' | 'troubleMs'>,
): Patience {
  return {
    async until(ask, { withinMs = limits.troubleMs, signal, bears = passes }) {
      const endAt = clock.now() + withinMs
      let pause = limits.pollBaseMs
      for (;;) {
        let trouble: ProviderError | undefined
        try {
          const answer = await ask()
          if (answer !== undefined) return answer
        } catch (error) {
          if (!(error instanceof ProviderError) || !bears(error)) throw error
          trouble = error
        }
        const wait = trouble instanceof ProviderBusyError ? Math.max(pause, trouble.retryAfterMs) : pause
        if (clock.now() + wait > endAt) {
          if (trouble) throw trouble
          return undefined
        }
        await clock.sleep(wait, signal)
        pause = Math.min(limits.pollCapMs, pause * limits.pollGrowth)
      }
    },
  }
}

/** No answer, half an answer, or one that will be another soon. */
export function passes({ kind, status }: ProviderError): boolean {
  if (kind === 'redirect') return false
  return kind !== 'answer' || isPassingStatus(status ?? 0)
}
