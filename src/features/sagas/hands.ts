// The runs this process has in hand. While there are any, one statement every few seconds says that all of them are
// driven; a run that is no longer ours is ended here, at once.
import type { Logger } from 'pino'
import { beat, type Writes } from './drive-repository.ts'

export const BEAT_MS = 3_000

export class LostRunError extends Error {
  constructor() {
    super('the run was taken over by another worker')
  }
}

export interface Hands {
  /** Aborted when the run turns out to be someone else's. */
  take(id: string, claim: string): AbortSignal
  letGo(claim: string): void
}

export function hands(writes: Writes, log: Logger, beatMs = BEAT_MS): Hands {
  const held = new Map<string, { id: string; lost: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let beating = false

  async function beatAll(): Promise<void> {
    // A database that does not answer is not asked again before it has.
    if (beating) return
    beating = true
    try {
      const claims = [...held.keys()]
      const ids = claims.map(claim => held.get(claim)!.id)
      const standing = new Set(await beat(writes, ids, claims))
      for (const claim of claims) if (!standing.has(claim)) held.get(claim)?.lost.abort(new LostRunError())
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat of sagas could not be written')
    } finally {
      beating = false
    }
  }

  return {
    take(id, claim) {
      const lost = new AbortController()
      held.set(claim, { id, lost })
      timer ??= setInterval(beatAll, beatMs).unref()
      return lost.signal
    },
    letGo(claim) {
      held.delete(claim)
      if (held.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
  }
}
