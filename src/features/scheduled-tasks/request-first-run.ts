// A task that has never run need not wait for its hour: a service that has just been installed shows something at once.
import type { Deps } from '../../deps.ts'
import { AppError } from '../../kernel/errors.ts'
import { findTask } from './repository.ts'
import { requestTaskRun } from './request-task-run.ts'

export async function requestFirstRun(deps: Deps, name: string): Promise<void> {
  const task = await findTask(deps.db, name)
  if (!task || task.last_run || task.paused_at) return
  try {
    await requestTaskRun(deps, name, 'first start')
  } catch (error) {
    // Another node was first.
    if (!(error instanceof AppError && error.kind === 'conflict')) throw error
  }
}
