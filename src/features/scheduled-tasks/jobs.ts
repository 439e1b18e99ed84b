// The job behind every task.
import type { Kernel } from '../../kernel/kernel.ts'
import { handle, type JobHandler, type Task } from '../../kernel/queue/queues.ts'
import { runTask } from './run-task.ts'
import { taskJob } from './task.ts'

export const taskHandlers = (kernel: Kernel, tasks: Task[]): JobHandler[] =>
  tasks.map(task => handle(taskJob(task), ({ trigger }, run) => runTask(kernel, task, trigger, run)))
