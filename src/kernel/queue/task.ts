// A scheduled task: what a feature declares, and features/scheduled-tasks runs, records, pauses and shows.
import type { JobRun } from './job.ts'
import type { QueueName } from './queues.ts'

export interface Task {
  name: string
  description: string
  queue: QueueName
  /** Five fields, UTC. */
  cron: string
  run(run: JobRun): Promise<void>
}
