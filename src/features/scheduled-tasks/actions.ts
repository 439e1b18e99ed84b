// What operators do with tasks: run one now, pause it, resume it.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { alreadyRunning, untilSettled } from '../../kernel/queue/settling.ts'
import { findTask, findTaskRow, insertRun, lockTask, setPaused } from './store.ts'
import { FIRST, type TaskRunRow, taskJob } from './task.ts'

/** The run's record and its job are made together, or not at all. */
export const requestTaskRun = (
  { db, jobs, clock }: Deps,
  name: string,
  requestedBy: string,
): Promise<TaskRunRow> =>
  untilSettled(() =>
    transaction(db, async tx => {
      const task = await lockTask(tx, name)
      if (!task) throw notFound()
      const id = newId()
      const options = { key: name, id, ...FIRST }
      const sent = await jobs.send(tx, taskJob(task), { task: name, trigger: 'manual' }, options)
      if (sent === null) {
        const last = (await findTask(tx, name))?.last_run?.status
        throw alreadyRunning('This task is queued or running already.', last === 'completed')
      }
      return insertRun(tx, {
        id,
        task: name,
        trigger: 'manual',
        requested_by: requestedBy,
        status: 'queued',
        attempts: 0,
        requested_at: clock.now().toISOString(),
      })
    }),
  )

/** A task that has never run need not wait for its hour: a service that has just been installed shows something at once. */
export async function requestFirstRun(deps: Deps, name: string): Promise<void> {
  const task = await findTask(deps.db, name)
  if (!task || task.last_run || task.paused) return
  try {
    await requestTaskRun(deps, name, 'first start')
  } catch (error) {
    // Another node was first.
    if (!(error instanceof AppError && error.kind === 'conflict')) throw error
  }
}

/**
 * For what another task has just made worth running, as if it were due. One that is queued already does that work too.
 */
export async function requestRun({ db, jobs }: Pick<Deps, 'db' | 'jobs'>, name: string): Promise<void> {
  const task = await findTaskRow(db, name)
  if (task) await jobs.send(db, taskJob(task), { task: name, trigger: 'schedule' }, { key: name, ...FIRST })
}

/** A paused task's ticks are skipped until it is resumed. Pausing twice changes nothing. */
export async function pauseTask({ db, clock }: Deps, name: string, by: string): Promise<void> {
  if (!(await setPaused(db, name, { at: clock.now().toISOString(), by }))) throw notFound()
}

export async function resumeTask({ db }: Deps, name: string): Promise<void> {
  if (!(await setPaused(db, name, null))) throw notFound()
}
