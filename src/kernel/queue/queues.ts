// The six queues of the specification, the one where jobs that failed for good wait for an operator, and what features
// declare for them: jobs and scheduled tasks. All queues are `exclusive`: of jobs with one key, at most one is queued or running, enforced by a unique index, so that
// two nodes, a cron tick and an operator together still make one run.
import type { Queue } from 'pg-boss'
import type { Logger } from 'pino'
import type { Static, TSchema } from 'typebox'

export interface QueueSettings {
  /** Workers of this queue in one process: each takes a job at a time, or a batch. */
  concurrency: number
  /** Jobs that a worker takes and settles together, for jobs that only ring a bell. */
  batch?: number
  retryLimit: number
  /** Its jobs read or write whole tables: one statement may take long. */
  longStatements?: true
  /** How long one job may run. */
  minutes: number
}

export const QUEUES = {
  // A step of a saga is never run twice by the runner: no retries. The job brings a run to a process and is done.
  provisioning: { concurrency: 1, batch: 16, retryLimit: 0, minutes: 60 },
  cloud_sync_fast: { concurrency: 4, retryLimit: 3, minutes: 5 },
  cloud_sync_full: { concurrency: 2, retryLimit: 3, minutes: 60, longStatements: true },
  cloud_sync_slow: { concurrency: 1, retryLimit: 3, minutes: 60, longStatements: true },
  cloud_billing: { concurrency: 2, retryLimit: 8, minutes: 60, longStatements: true },
  metering: { concurrency: 1, retryLimit: 3, minutes: 30, longStatements: true },
} satisfies Record<string, QueueSettings>

export type QueueName = keyof typeof QUEUES
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[]

export const DEAD_LETTERS = 'dead_letters'

/** Where the jobs of a type lie in pg-boss: `metering`, or `metering/task.new_one`. */
export const queueOf = ({ name, queue, ownQueue }: Pick<JobType, 'name' | 'queue' | 'ownQueue'>): string =>
  ownQueue ? `${queue}/${name}` : queue

const DAY = 86_400

/** A worker that dies stops its heartbeat; its job is then failed or tried again by whoever still lives. */
const HEARTBEAT_SECONDS = 30

export type QueueOptions = Omit<Queue, 'name'>

export const deadLetterOptions: QueueOptions = { retentionSeconds: 3650 * DAY }

export function queueOptions(name: QueueName): QueueOptions {
  const { retryLimit, minutes } = QUEUES[name]
  return {
    policy: 'exclusive',
    retryLimit,
    ...(retryLimit > 0 && { retryDelay: 5, retryBackoff: true, retryDelayMax: 600 }),
    expireInSeconds: minutes * 60,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deleteAfterSeconds: 14 * DAY,
    deadLetter: DEAD_LETTERS,
    notify: true,
  }
}

/** A job is a doorbell: a name, a checked payload, and a use case that a route or a test can call as well. */
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

/** What a feature declares, and features/scheduled-tasks runs, records, pauses and shows. */
export interface Task {
  name: string
  description: string
  queue: QueueName
  /** Of a task that the version before this one does not have; see JobType. */
  ownQueue?: boolean
  /** Five fields, UTC. */
  cron: string
  run(run: JobRun): Promise<void>
}
