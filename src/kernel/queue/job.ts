// A job is a doorbell: a name, a checked payload, and a use case that a route or a test can call as well.
import type { Logger } from 'pino'
import type { Static, TSchema } from 'typebox'
import type { QueueName } from './queues.ts'

export interface JobType<P extends TSchema = TSchema> {
  name: string
  queue: QueueName
  payload: P
  /**
   * Its jobs lie in a pg-boss queue of their own beside the queue's others. For a type that is new: workers of the version
   * before this one take whatever lies in the six queues, and would fail what they do not know.
   */
  ownQueue?: boolean
  /** How often a job of this type is tried again, where its queue's own number does not suit it. */
  retryLimit?: number
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
