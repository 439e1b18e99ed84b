// The start of pg-boss, while another node may be making or migrating the queue's tables at this moment.
import type { PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import { sqlState } from '../db/sql-state.ts'

/** pg-boss waits for its lock for 30 seconds. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Its lock does not keep two nodes from making the schema: what a session knows of schemas is not looked up again after the wait. */
const UNIQUE_VIOLATION = '23505'
const MOST_CLASHES = 3

export async function startBoss(boss: PgBoss, log: Logger): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await boss.start()
      return
    } catch (error) {
      const state = sqlState(error)
      const clash = state === UNIQUE_VIOLATION && attempt <= MOST_CLASHES
      if (state !== LOCK_NOT_AVAILABLE && !clash) throw error
      log.info({ err: error }, 'another process migrates the queue: waiting for it')
    }
  }
}
