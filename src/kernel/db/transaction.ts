// One transaction for one use case. A deadlock or a serialization failure means that nothing was done, so it is
// tried again; everything the callback does must therefore go through the executor it is handed.

import { sqlState } from './sql-state.ts'
import type { Executor } from './tables.ts'

const ATTEMPTS = 3
const TRY_AGAIN = new Set(['40001', '40P01'])

export async function transaction<T>(db: Executor, work: (tx: Executor) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt >= ATTEMPTS || !TRY_AGAIN.has(sqlState(error) ?? '')) throw error
    }
  }
}
