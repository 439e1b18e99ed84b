// One run of a task, from the queue: recorded when it starts and when it ends. A tick that comes while the task is
// paused is recorded as skipped; an operator's own request runs all the same.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun, Task } from '../../kernel/queue/queues.ts'
import { beginRun, failLostRuns, finishRun, lockTask } from './repository.ts'
import type { Trigger } from './tables.ts'

const LONGEST_ERROR = 1_000

export async function runTask(deps: Deps, task: Task, trigger: Trigger, run: JobRun): Promise<void> {
  const { db, clock, metrics } = deps
  const now = () => clock.now().toISOString()
  if ((await begin(deps, task.name, trigger, run.id)) === 'skipped') {
    run.log.info({ task: task.name }, 'the task is paused: tick skipped')
    return
  }
  try {
    await task.run(run)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await finishRun(db, run.id, 'failed', now(), message.slice(0, LONGEST_ERROR))
    throw error
  }
  await finishRun(db, run.id, 'completed', now(), null)
  metrics.taskLastSuccess.set({ task: task.name }, clock.now().getTime() / 1000)
}

function begin(
  { db, clock }: Deps,
  name: string,
  trigger: Trigger,
  id: string,
): Promise<'running' | 'skipped'> {
  return transaction(db, async tx => {
    const at = clock.now().toISOString()
    const row = await lockTask(tx, name)
    const status = trigger === 'schedule' && row?.paused_at != null ? 'skipped' : 'running'
    await failLostRuns(tx, name, id, at)
    await beginRun(tx, {
      id,
      task: name,
      trigger,
      requested_by: null,
      status,
      attempts: 1,
      requested_at: at,
      started_at: at,
      finished_at: status === 'skipped' ? at : null,
      error: null,
    })
    return status
  })
}
