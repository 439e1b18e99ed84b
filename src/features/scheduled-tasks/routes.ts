// /api/v1/admin/scheduled_tasks
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Id, NoBody } from '../../kernel/http/schemas.ts'
import { pauseTask, requestTaskRun, resumeTask } from './actions.ts'
import { findRun, findTask, listRuns, listTasks, type ShownTask } from './store.ts'
import { ScheduledTask, TaskRun } from './task.ts'

const params = Type.Object({ name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }) })
const base = '/api/v1/admin/scheduled_tasks'

const withNextRun = ({ jobs }: Deps, task: ShownTask): ShownTask => ({
  ...task,
  next_run_at: task.paused ? null : jobs.nextRun(task.cron),
})

async function getTask(deps: Deps, name: string): Promise<ShownTask> {
  const task = await findTask(deps.db, name)
  if (!task) throw notFound()
  return withNextRun(deps, task)
}

export const scheduledTaskRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Administration', guard: 'operator' }, route => {
    route.list(
      base,
      {
        id: 'listScheduledTasks',
        summary: 'List scheduled tasks',
        description: 'The cron table, with each task’s last and next run.',
        items: ScheduledTask,
        cursor: cursorOf('scheduled_tasks', ['text']),
        key: (task: ShownTask) => [task.name],
      },
      async ({ limit, after }) =>
        (await listTasks(deps.db, limit, after)).map(task => withNextRun(deps, task)),
    )

    route.get(
      `${base}/:name`,
      { id: 'getScheduledTask', summary: 'Get a scheduled task', params, data: ScheduledTask },
      ({ params }) => getTask(deps, params.name),
    )

    route.list(
      `${base}/:name/runs`,
      {
        id: 'listTaskRuns',
        summary: 'List the runs of a task',
        description: 'Newest first; kept for 90 days.',
        params,
        items: TaskRun,
        cursor: cursorOf('task_runs', ['uuid']),
        key: (run: { id: string }) => [run.id],
      },
      async ({ params, limit, after }) => {
        await getTask(deps, params.name)
        return listRuns(deps.db, params.name, limit, after)
      },
    )

    route.get(
      `${base}/:name/runs/:run_id`,
      {
        id: 'getTaskRun',
        summary: 'Get a run of a task',
        params: Type.Object({ ...params.properties, run_id: Id }),
        data: TaskRun,
      },
      async ({ params }) => {
        const run = await findRun(deps.db, params.name, params.run_id)
        if (!run) throw notFound()
        return run
      },
    )

    route.post(
      `${base}/:name/run`,
      {
        id: 'runTask',
        summary: 'Run a task now',
        description: 'Also while it is paused. 409 `already_running` when it is queued or running.',
        permission: 'scheduled_tasks:run',
        problems: { 409: { already_running: 'The task is queued or running.' } },
        params,
        body: NoBody,
        status: 202,
        data: TaskRun,
      },
      async ({ deps, caller, params, reply }) => {
        const run = await requestTaskRun(deps, params.name, caller.sub)
        reply.header('location', `${base}/${run.task}/runs/${run.id}`)
        return run
      },
    )

    route.post(
      `${base}/:name/pause`,
      {
        id: 'pauseTask',
        summary: 'Pause a task',
        description: 'Its ticks are skipped until it is resumed.',
        params,
        body: NoBody,
        data: ScheduledTask,
      },
      async ({ deps, caller, params }) => {
        await pauseTask(deps, params.name, caller.sub)
        return getTask(deps, params.name)
      },
    )

    route.post(
      `${base}/:name/resume`,
      { id: 'resumeTask', summary: 'Resume a paused task', params, body: NoBody, data: ScheduledTask },
      async ({ deps, params }) => {
        await resumeTask(deps, params.name)
        return getTask(deps, params.name)
      },
    )
  })
