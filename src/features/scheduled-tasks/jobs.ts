// The job behind every task.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { handle, type JobHandler } from '../../kernel/queue/queues.ts'
import { runTask } from './run-task.ts'
import { taskJob } from './task.ts'

export const taskHandlers = (deps: Deps, tasks: Task[]): JobHandler[] =>
  tasks.map(task => handle(taskJob(task), ({ trigger }, run) => runTask(deps, task, trigger, run)))
