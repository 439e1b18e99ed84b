// One transaction for one use case. A deadlock or a serialization failure means that nothing was done, so it is
// tried again; everything the callback does must therefore go through the executor it is handed.

import { sqlState } from './sql-state.ts'
import type { Executor } from './tables.ts'

const ATTEMPTS = 3
const TRY_AGAIN = new Set(['40001', '40P01'])

export const transaction = <T>(db: Executor, work: (tx: Executor) => Promise<T>): Promise<T> =>
  untilDone(() => db.transaction().execute(work))

/** The same patience for a statement that is a transaction by itself. */
export async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= ATTEMPTS || !TRY_AGAIN.has(sqlState(error) ?? '')) throw error
    }
  }
}
