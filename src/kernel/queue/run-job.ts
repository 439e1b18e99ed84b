// What becomes of a job that was fetched: it is run, and completed or failed. It is put back, as if it had never been taken,
// when this version does not know it or the database was away.
import { type RawBuilder, sql } from 'kysely'
import type { Job, JobResult } from 'pg-boss'
import type { Logger } from 'pino'
import { actAsNobody } from '../audit.ts'
import { withLongStatements } from '../db/connection.ts'
import type { Engine } from '../db/engine.ts'
import { isDatabaseAway, sqlState } from '../db/errors.ts'
import type { Executor } from '../db/tables.ts'
import { waitForDatabase } from '../db/transaction.ts'
import { fits } from '../http/validation.ts'
import type { Metrics } from '../metrics.ts'
import { type JobHandler, QUEUES, type QueueName, type QueueSettings } from './queues.ts'

export interface Envelope {
  job: string
  payload: unknown
}

interface Parts {
  engine: Engine
  log: Logger
  metrics: Metrics
  /** Aborted when jobs in flight must end. */
  ending: AbortSignal
}

interface Fetched {
  queue: QueueName
  /** The pg-boss queue: the queue itself, or that of one of its types. */
  name: string
  job: Job<Envelope>
  handlers: Map<string, JobHandler>
}

export async function runJob(parts: Parts, { queue, name, job, handlers }: Fetched): Promise<JobResult> {
  const handler = handlers.get(job.data?.job)
  if (!handler) return leaveToOtherVersion(parts, queue, name, job)
  try {
    await run(parts, queue, job, handler)
    return { id: job.id, status: 'completed' }
  } catch (error) {
    return afterFailure(parts, name, job, error)
  }
}

async function run(
  { log, metrics, ending }: Parts,
  queue: QueueName,
  job: Job<Envelope>,
  handler: JobHandler,
): Promise<void> {
  const { longStatements }: QueueSettings = QUEUES[queue]
  const started = performance.now()
  const jobLog = log.child({ queue, job: job.data.job, job_id: job.id, attempt: job.retryCount + 1 })
  let outcome = 'failed'
  try {
    if (!fits(handler.type.payload, job.data.payload)) throw new Error('the payload does not fit the job')
    const signal = AbortSignal.any([job.signal, ending])
    const context = { id: job.id, attempt: job.retryCount + 1, signal, log: jobLog }
    // On PGlite a worker may be woken from within the request that sent the job.
    const work = () => actAsNobody(() => handler.run(job.data.payload, context))
    await (longStatements ? withLongStatements(work) : work())
    outcome = 'completed'
  } catch (error) {
    jobLog.error({ err: error }, 'job failed')
    throw error
  } finally {
    const seconds = (performance.now() - started) / 1000
    metrics.jobs.observe({ queue, job: job.data.job, outcome }, seconds)
    jobLog.info({ outcome, seconds: Math.round(seconds * 1000) / 1000 }, 'job')
  }
}

const QUERY_CANCELED = '57014'

/** Not a statement that takes too long: that is the job's own fault, and must be reported some day. */
export const isDatabaseTrouble = (error: unknown): boolean =>
  isDatabaseAway(error) && sqlState(error) !== QUERY_CANCELED

async function afterFailure(
  parts: Parts,
  name: string,
  job: Job<Envelope>,
  error: unknown,
): Promise<JobResult> {
  const { id } = job
  const isPutBack =
    isDatabaseTrouble(error) && (await putBackAfterOutage(parts, name, job).catch(() => false))
  if (isPutBack) return leave(job)
  // Kept with the job, where an operator reads it: the message alone, for a database error carries row values.
  const output = new Error((error instanceof Error ? error.message : String(error)).slice(0, 1_000))
  return { id, status: 'failed', output }
}

const PING_MS = 3_000

/**
 * Waits until the database is back: a result sent to one that is away is lost, and the job would look as if its worker had
 * died. Counted as an attempt, a few bad minutes of the database would give up what is well, or put it off for longer and
 * longer. False for a job that is never tried again: it is not because of this either.
 */
function putBackAfterOutage(
  { engine, log, ending }: Parts,
  name: string,
  { id, signal }: Job<Envelope>,
): Promise<boolean> {
  const waiting = { signal: AbortSignal.any([signal, ending]), log, what: 'a job' }
  return waitForDatabase(async () => {
    await engine.ping(PING_MS)
    await putBack(engine.db, name, id, sql`retry_limit > 0`)
    // An earlier try whose response was lost may have done it.
    const { rows } = await sql`
      select from pgboss.job where name = ${name} and id = ${id} and state = 'active'`.execute(engine.db)
    return rows.length === 0
  }, waiting)
}

/** Another version's job comes back a little later, so that the other takes it first; after a day it is a dead letter. */
async function leaveToOtherVersion(
  { engine, log }: Parts,
  queue: QueueName,
  name: string,
  job: Job<Envelope>,
): Promise<JobResult> {
  const { id, data } = job
  const about = { queue, job: data?.job, job_id: id }
  const isRecent = sql`coalesce((output->>'unknown_since')::timestamptz > clock_timestamp() - interval '1 day', true)`
  const since = sql`jsonb_build_object('unknown_since', coalesce(output->>'unknown_since', clock_timestamp()::text))`
  if (await putBack(engine.db, name, id, isRecent, since)) {
    log.warn(about, 'job left to a version that knows it')
    return leave(job)
  }
  const output = new Error(`no running version of the service has known a job named ${data?.job} for a day`)
  log.error(about, output.message)
  return { id, status: 'deadletter', output }
}

const NO_ATTEMPT = -1

/**
 * Of a job that was put back: whatever is said of it must settle nothing. By the time its batch is settled somebody else may
 * have taken it, and pg-boss tells claims apart by the attempt's number alone, which is not counted up here.
 */
function leave(job: Job<Envelope>): JobResult {
  job.retryCount = NO_ATTEMPT
  return { id: job.id, status: 'completed' }
}

const SECONDS_UNTIL_NEXT = 5

/** Without `started_on` the next start is not counted as a further attempt. False when the condition does not hold. */
async function putBack(
  executor: Executor,
  queue: string,
  id: string,
  condition: RawBuilder<unknown>,
  output: RawBuilder<unknown> = sql`output`,
): Promise<boolean> {
  const { rows } = await sql`
    update pgboss.job set state = (case when retry_count > 0 then 'retry' else 'created' end)::pgboss.job_state,
      started_on = null, heartbeat_on = null, output = ${output},
      start_after = clock_timestamp() + make_interval(secs => ${SECONDS_UNTIL_NEXT})
    where name = ${queue} and id = ${id} and state = 'active' and ${condition}
    returning id`.execute(executor)
  return rows.length > 0
}
