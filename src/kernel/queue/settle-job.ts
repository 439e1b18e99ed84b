// What becomes of a job that was fetched: it is run and completed or failed; left alone when this version does not know it;
// put back when the database was away.
import type { Job, JobResult } from 'pg-boss'
import type { Logger } from 'pino'
import { Value } from 'typebox/value'
import { actAsNobody } from '../audit.ts'
import type { Engine } from '../db/engine.ts'
import { withLongStatements } from '../db/statement-limit.ts'
import type { Metrics } from '../metrics.ts'
import { isDatabaseTrouble, putBackAfterTrouble } from './database-trouble.ts'
import type { JobHandler } from './job.ts'
import { QUEUES, type QueueName, type QueueSettings } from './queues.ts'
import { leaveUnknown } from './unknown-jobs.ts'

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

export async function settle(parts: Parts, { queue, name, job, handlers }: Fetched): Promise<JobResult> {
  const { id } = job
  const handler = handlers.get(job.data?.job)
  if (!handler) return leaveUnknown(parts.engine.db, parts.log, { queue, name, id, job: job.data?.job })
  try {
    await run(parts, queue, job, handler)
    return { id, status: 'completed' }
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
    if (!Value.Check(handler.type.payload, job.data.payload))
      throw new Error('the payload does not fit the job')
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

async function afterFailure(
  { engine, log, ending }: Parts,
  name: string,
  job: Job<Envelope>,
  error: unknown,
): Promise<JobResult> {
  const { id } = job
  const waiting = { signal: AbortSignal.any([job.signal, ending]), log, what: 'a job' }
  // What is told to a database that is away is lost, and the job would look as if its worker had died.
  const isPutBack =
    isDatabaseTrouble(error) && (await putBackAfterTrouble(engine, { id, name }, waiting).catch(() => false))
  // It is not active any more, so that there is nothing to complete.
  if (isPutBack) return { id, status: 'completed' }
  // Kept with the job, where an operator reads it: the message alone, for a database error carries row values.
  const output = new Error((error instanceof Error ? error.message : String(error)).slice(0, 1_000))
  return { id, status: 'failed', output }
}
