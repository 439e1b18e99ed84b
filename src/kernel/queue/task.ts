// A scheduled task: what a feature declares, and features/scheduled-tasks runs, records, pauses and shows.
import type { JobRun } from './job.ts'
import type { QueueName } from './queues.ts'

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
