// A job is a doorbell: a name, a checked payload, and a use case that a route or a test can call as well.
import type { Logger } from 'pino'
import type { Static, TSchema } from 'typebox'
import type { QueueName } from './queues.ts'

export interface JobType<P extends TSchema = TSchema> {
  name: string
  queue: QueueName
  payload: P
  /** How long a job of this type may run, where the queue's own bound does not suit it. */
  longestSeconds?: number
}

export interface JobRun {
  id: string
  /** 1 for the first run, 2 for the first retry. */
  attempt: number
  /** Aborted when the job has run too long, its claim is lost, or the process stops. */
  signal: AbortSignal
  log: Logger
}

export interface JobHandler {
  type: JobType
  run: (payload: unknown, run: JobRun) => Promise<void>
}

export const handle = <P extends TSchema>(
  type: JobType<P>,
  run: (payload: Static<P>, run: JobRun) => Promise<void>,
): JobHandler => ({ type, run: (payload, jobRun) => run(payload as Static<P>, jobRun) })

/** A job sent on a schedule (UTC). A tick missed while nothing ran is made up for once. */
export interface Schedule<P extends TSchema = TSchema> {
  type: JobType<P>
  key: string
  cron: string
  payload: Static<P>
}
