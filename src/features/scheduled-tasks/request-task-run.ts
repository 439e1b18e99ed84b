// An operator asks for a run now. The run's record and its job are made together, or not at all.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { insertRun, lockTask } from './repository.ts'
import type { TaskRunRow } from './tables.ts'
import { FIRST, taskJob } from './task.ts'

export function requestTaskRun(
  { db, jobs, clock }: Deps,
  name: string,
  requestedBy: string,
): Promise<TaskRunRow> {
  return transaction(db, async tx => {
    const task = await lockTask(tx, name)
    if (!task) throw notFound()
    const run: TaskRunRow = {
      id: newId(),
      task: name,
      trigger: 'manual',
      requested_by: requestedBy,
      status: 'queued',
      attempts: 0,
      requested_at: clock.now().toISOString(),
      started_at: null,
      finished_at: null,
      error: null,
    }
    const sent = await jobs.send(
      tx,
      taskJob(task),
      { task: name, trigger: 'manual' },
      { key: name, id: run.id, ...FIRST },
    )
    if (sent === null) throw conflict('already_running', 'This task is queued or running already.')
    await insertRun(tx, run)
    return run
  })
}
