// Which queue runs which handler, and the cron table (UTC).
import type { Context } from './context.ts'
import {
  housekeeping,
  type Task,
  taskHandlers,
  taskSchedule,
  upsertTasks,
} from './features/scheduled-tasks/index.ts'

/** Every scheduled task of the service. */
export const tasksOf = (ctx: Context): Task[] => [housekeeping(ctx)]

/** Makes the tasks known to the API; every process does so at its start. */
export const registerTasks = (ctx: Context): Promise<void> => upsertTasks(ctx.db, tasksOf(ctx))

/** Starts running jobs in this process. */
export async function startWorker(ctx: Context): Promise<void> {
  const tasks = tasksOf(ctx)
  await ctx.jobs.work(taskHandlers(ctx, tasks), tasks.map(taskSchedule))
}
