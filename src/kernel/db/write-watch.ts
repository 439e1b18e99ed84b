// Whether the database takes writes. A full disk or a standby still answers every read, so that asking for a sign of
// life says nothing about it: what is remembered is that a statement could not write, until a write works again.
import { cannotWrite, sqlState } from './sql-state.ts'

/** So long after such a failure it is told without trying. */
const REMEMBERED_MS = 3_000

/** Needs new pages on the disk and a place in the log, and leaves nothing behind. */
const TRIAL =
  'create temp table cloudops_write_trial on commit drop as select n from generate_series(1, 5000) as n'

export interface WriteWatch {
  /** Told of every error of the database. */
  failed(error: unknown): void
  /** Rejects with the error while the database cannot write; asks it only after a write has failed. */
  check(run: (statement: string) => Promise<unknown>): Promise<void>
}

export function watchWrites(): WriteWatch {
  let failure: { error: unknown; at: number } | undefined
  const failed = (error: unknown) => {
    if (cannotWrite(error)) failure = { error, at: performance.now() }
  }
  return {
    failed,
    async check(run) {
      if (!failure) return
      if (performance.now() - failure.at < REMEMBERED_MS) throw failure.error
      try {
        await run(TRIAL)
      } catch (error) {
        failed(error)
        // A trial that is refused for another reason says nothing about the disk.
        if (cannotWrite(error) || sqlState(error) === undefined) throw error
      }
      failure = undefined
    },
  }
}
