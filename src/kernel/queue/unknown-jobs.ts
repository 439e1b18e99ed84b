// A job that this version does not know is another version's: it is put back as if it had never been taken, a little later
// so that the other comes to it first. What nobody has known for a day is told as a dead letter.
import { sql } from 'kysely'
import type { JobResult } from 'pg-boss'
import type { Logger } from 'pino'
import type { Executor } from '../db/tables.ts'

const SECONDS_UNTIL_NEXT = 5

export interface UnknownJob {
  id: string
  queue: string
  /** The queue's name in pg-boss. */
  name: string
  /** What it calls itself. */
  job: string | undefined
}

/** How pg-boss shall settle it. */
export async function leaveUnknown(executor: Executor, log: Logger, unknown: UnknownJob): Promise<JobResult> {
  const { id, name, queue, job } = unknown
  const about = { queue, job, job_id: id }
  if (await putBack(executor, name, id)) {
    log.warn(about, 'job left to a version that knows it')
    // It is not active any more, so that there is nothing to complete.
    return { id, status: 'completed' }
  }
  const output = new Error(`no running version of the service has known a job named ${job} for a day`)
  log.error(about, output.message)
  return { id, status: 'deadletter', output }
}

/** False when nobody has known the job for a day. */
async function putBack(executor: Executor, queue: string, id: string): Promise<boolean> {
  // Without a start the next one is not counted as a further attempt.
  const { rows } = await sql`
    update pgboss.job set state = (case when retry_count > 0 then 'retry' else 'created' end)::pgboss.job_state,
      started_on = null, heartbeat_on = null, start_after = clock_timestamp() + make_interval(secs => ${SECONDS_UNTIL_NEXT}),
      output = jsonb_build_object('unknown_since', coalesce(output->>'unknown_since', clock_timestamp()::text))
    where name = ${queue} and id = ${id} and state = 'active'
      and coalesce((output->>'unknown_since')::timestamptz > clock_timestamp() - interval '1 day', true)
    returning id`.execute(executor)
  return rows.length > 0
}
