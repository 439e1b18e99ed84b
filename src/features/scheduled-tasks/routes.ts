// /api/v1/admin/scheduled_tasks

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, NoBody, One, Query } from '../../kernel/http/schemas.ts'
import { pauseTask, resumeTask } from './pause-task.ts'
import { findRun, findTask, listRuns, listTasks, type TaskWithLastRun } from './repository.ts'
import { requestTaskRun } from './request-task-run.ts'
import { RunParams, ScheduledTask, TaskParams, TaskRun } from './schemas.ts'

const config = { guard: 'operator' } as const
const tags = ['Administration']
const base = '/api/v1/admin/scheduled_tasks'

export function scheduledTaskRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const tasksCursor = cursorOf('scheduled_tasks', ['text'])
  const runsCursor = cursorOf('task_runs', ['uuid'])
  const shown = (task: TaskWithLastRun) => ({
    ...task,
    paused: task.paused_at !== null,
    next_run_at: task.paused_at === null ? deps.jobs.nextRun(task.cron) : null,
  })
  const find = async ({ db }: Deps, name: string) => {
    const task = await findTask(db, name)
    if (!task) throw notFound()
    return { data: shown(task) }
  }

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listScheduledTasks',
          summary: 'List the scheduled tasks',
          description: 'The cron table, with each task’s last and next run.',
          querystring: Query(PageQuery),
          response: { 200: Many(ScheduledTask) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const after = tasksCursor.read(cursor)?.[0] as string | undefined
        const rows = await listTasks(deps.db, limit + 1, after ?? null)
        return withNextLink(
          request,
          reply,
          tasksCursor.page(rows.map(shown), limit, task => [task.name]),
        )
      },
    )

    app.get(
      `${base}/:name`,
      {
        config,
        schema: {
          tags,
          operationId: 'getScheduledTask',
          summary: 'Show a scheduled task',
          params: TaskParams,
          response: { 200: One(ScheduledTask) },
        },
      },
      request => find(deps, request.params.name),
    )

    app.get(
      `${base}/:name/runs`,
      {
        config,
        schema: {
          tags,
          operationId: 'listTaskRuns',
          summary: 'List a task’s runs',
          description: 'Newest first; kept for 90 days.',
          params: TaskParams,
          querystring: Query(PageQuery),
          response: { 200: Many(TaskRun) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = runsCursor.read(cursor)?.[0] as string | undefined
        await find(deps, request.params.name)
        const rows = await listRuns(deps.db, request.params.name, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          runsCursor.page(rows, limit, run => [run.id]),
        )
      },
    )

    app.get(
      `${base}/:name/runs/:run_id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getTaskRun',
          summary: 'Show a run of a task',
          params: RunParams,
          response: { 200: One(TaskRun) },
        },
      },
      async request => {
        const run = await findRun(deps.db, request.params.name, request.params.run_id)
        if (!run) throw notFound()
        return { data: run }
      },
    )

    app.post(
      `${base}/:name/run`,
      {
        config: {
          ...config,
          permission: 'scheduled_tasks:run',
          problems: { 409: { already_running: 'The task is queued or running.' } },
        },
        schema: {
          tags,
          operationId: 'runTask',
          summary: 'Run a task now',
          description: 'Also while it is paused. 409 `already_running` when it is queued or running.',
          params: TaskParams,
          body: NoBody,
          response: { 202: One(TaskRun) },
        },
      },
      async (request, reply) => {
        const run = await requestTaskRun(inRequest(deps, request), request.params.name, callerOf(request).sub)
        reply.code(202).header('location', `${base}/${run.task}/runs/${run.id}`)
        return { data: run }
      },
    )

    app.post(
      `${base}/:name/pause`,
      {
        config,
        schema: {
          tags,
          operationId: 'pauseTask',
          summary: 'Pause a task',
          description: 'Its ticks are skipped until it is resumed.',
          params: TaskParams,
          body: NoBody,
          response: { 200: One(ScheduledTask) },
        },
      },
      async request => {
        const inThis = inRequest(deps, request)
        await pauseTask(inThis, request.params.name, callerOf(request).sub)
        return find(inThis, request.params.name)
      },
    )

    app.post(
      `${base}/:name/resume`,
      {
        config,
        schema: {
          tags,
          operationId: 'resumeTask',
          summary: 'Resume a paused task',
          params: TaskParams,
          body: NoBody,
          response: { 200: One(ScheduledTask) },
        },
      },
      async request => {
        const inThis = inRequest(deps, request)
        await resumeTask(inThis, request.params.name)
        return find(inThis, request.params.name)
      },
    )
  }
}
