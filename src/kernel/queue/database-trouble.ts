// A job that failed because the database was away: what becomes of it can only be told when the database is back, and
// the attempt is not held against it. Otherwise a few bad minutes of the database would give up what is well.
import { sql } from 'kysely'
import type { Engine } from '../db/engine.ts'
import { type Waiting, waitForDatabase } from '../db/wait-for-database.ts'

const PING_MS = 3_000

/** In all: a statement that always takes too long looks like trouble of the database, and must be told some day. */
const MOST_RETRIES = 20

export interface TroubledJob {
  id: string
  /** The queue's name in pg-boss. */
  name: string
}

/** Jobs that are never tried again are not because of this either. */
export async function outlastTrouble(
  engine: Engine,
  { id, name }: TroubledJob,
  waiting: Waiting,
): Promise<void> {
  await waitForDatabase(async () => {
    await engine.ping(PING_MS)
    await sql`
      update pgboss.job set retry_limit = least(retry_count + 1, ${MOST_RETRIES})
      where name = ${name} and id = ${id} and state = 'active' and retry_limit > 0
        and retry_limit <= retry_count and retry_limit < ${MOST_RETRIES}`.execute(engine.db)
  }, waiting)
}
