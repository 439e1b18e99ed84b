// What a job did is seen a moment before the job itself is settled. Whoever has seen it may ask for the next one, and must not be
// refused for the one that is over.
import { type AppError, conflict } from '../errors.ts'
import { retry } from '../retry.ts'

const PAUSE_MS = 50
const MOST_PAUSES = 40

/** Refusals for a job that is over but not settled. */
const settling = new WeakSet<object>()

/** `isOver`: as far as anyone can see, none is queued or running. */
export function alreadyRunning(message: string, isOver: boolean): AppError {
  const refusal = conflict('already_running', message)
  if (isOver) settling.add(refusal)
  return refusal
}

/** Asks again for a little while where a job that is over is all that it is refused for. */
export const untilSettled = <T>(ask: () => Promise<T>): Promise<T> =>
  retry(ask, {
    pauseAfter: (error, tried) => (settling.has(error as object) && tried <= MOST_PAUSES ? PAUSE_MS : null),
  })
