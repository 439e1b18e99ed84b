// A job that failed because the database was away: when it is back, the job is put back as if it had never been taken.
// Counted as an attempt, a few bad minutes of the database would give up what is well, or put it off for longer and longer.
import { sql } from 'kysely'
import type { Engine } from '../db/engine.ts'
import { sqlState } from '../db/sql-state.ts'
import { isDatabaseAway, type Waiting, waitForDatabase } from '../db/wait-for-database.ts'

const PING_MS = 3_000
const SECONDS_UNTIL_NEXT = 5
const QUERY_CANCELED = '57014'

/** Not a statement that takes too long: that is the job's own fault, and must be told some day. */
export const isDatabaseTrouble = (error: unknown): boolean =>
  isDatabaseAway(error) && sqlState(error) !== QUERY_CANCELED

export interface TroubledJob {
  id: string
  /** The queue's name in pg-boss. */
  name: string
}

/** False when it stays as it is: jobs that are never tried again are not because of this either. */
export function putBackAfterTrouble(
  engine: Engine,
  { id, name }: TroubledJob,
  waiting: Waiting,
): Promise<boolean> {
  return waitForDatabase(async () => {
    await engine.ping(PING_MS)
    // Without a start the next one is not counted as a further attempt.
    await sql`
      update pgboss.job set state = (case when retry_count > 0 then 'retry' else 'created' end)::pgboss.job_state,
        started_on = null, heartbeat_on = null, start_after = clock_timestamp() + make_interval(secs => ${SECONDS_UNTIL_NEXT})
      where name = ${name} and id = ${id} and state = 'active' and retry_limit > 0`.execute(engine.db)
    // An attempt of this whose answer was lost may have done it.
    const { rows } = await sql`
      select from pgboss.job where name = ${name} and id = ${id} and state = 'active'`.execute(engine.db)
    return rows.length === 0
  }, waiting)
}
