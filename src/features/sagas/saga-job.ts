// The job that brings a worker to a run. It carries the run's id alone: what is to be done is in the run's row.

import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { JobType } from '../../kernel/queue/queues.ts'

const Payload = Type.Object({ saga_id: Type.String() })

export const sagaJob: JobType<typeof Payload> = {
  name: 'saga_run',
  queue: 'provisioning',
  payload: Payload,
  // Whoever takes it finds in the run whether there is anything to do. So it may be tried again, unlike a step, and the job
  // of a worker that was killed ends as another's instead of as a dead letter.
  retryLimit: 20,
  // When all the room of a process is taken, its last jobs are not done before there is some.
  longestSeconds: 24 * 3_600,
}

/** The run's `job_id` must be this id. Keyed by it too: the job before may still count as running. */
export async function sendRun({ jobs }: Deps, tx: Executor, id: string, jobId: string): Promise<void> {
  await jobs.send(tx, sagaJob, { saga_id: id }, { key: jobId, id: jobId })
}
