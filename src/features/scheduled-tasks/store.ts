// SQL of the scheduled tasks and their runs.
import { type Insertable, sql } from 'kysely'
import type { Static } from 'typebox'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor, Tables } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { ScheduledTask, type ScheduledTaskRow, TaskRun, type TaskRunRow, type Tick } from './task.ts'

const TASKS = auditedTable('scheduled_tasks', { key: ['name'] })
const RUNS = auditedTable('task_runs', { key: ['id'] })

/** The rows follow the code at every start; a pause is the operator's and stays. */
export async function upsertTasks(executor: Executor, tasks: Task[]): Promise<void> {
  if (tasks.length === 0) return
  await executor
    .insertInto('scheduled_tasks')
    .values(
      tasks.map(({ name, description, queue, cron, ownQueue = false }) => ({
        name,
        description,
        queue,
        cron,
        paused_at: null,
        paused_by: null,
        next_run_at: null,
        own_queue: ownQueue,
      })),
    )
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet(eb => ({
        description: eb.ref('excluded.description'),
        queue: eb.ref('excluded.queue'),
        cron: eb.ref('excluded.cron'),
        own_queue: eb.ref('excluded.own_queue'),
        // The tick that a former cron named is none of this one's.
        next_run_at: sql`case when scheduled_tasks.cron = excluded.cron then scheduled_tasks.next_run_at end`,
      })),
    )
    .execute()
}

/** How many are paused, and of how many the last run failed. */
export async function countTroubledTasks(executor: Executor): Promise<{ paused: number; failed: number }> {
  const { rows } = await sql<{ paused: number; failed: number }>`
    select count(*) filter (where t.paused_at is not null)::int as paused,
      count(*) filter (where last.status = 'failed')::int as failed
    from scheduled_tasks t left join lateral (
      select r.status from task_runs r where r.task = t.name order by r.id desc limit 1) last on true`.execute(
    executor,
  )
  return rows[0]!
}

export async function listTicks(executor: Executor, names: string[]): Promise<Tick[]> {
  const { rows } = await sql<Tick>`
    select t.name, t.queue, t.own_queue, t.cron, t.next_run_at, clock_timestamp() as now,
      (select max(requested_at) from task_runs where task = t.name and trigger = 'schedule' and t.next_run_at is null)
        as last_tick_at
    from scheduled_tasks t where t.name = any(${names}::text[]) order by t.name`.execute(executor)
  return rows
}

/** False when someone else has moved it on. */
export async function moveTick(
  tx: Executor,
  { name, cron, next_run_at }: Tick,
  next: string,
): Promise<boolean> {
  const result = await tx
    .updateTable('scheduled_tasks')
    .set({ next_run_at: next })
    .where('name', '=', name)
    .where('cron', '=', cron)
    .where('next_run_at', 'is not distinct from', next_run_at)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export type ShownTask = Static<typeof ScheduledTask>

const SELECT_TASK = `select ${jsonOf(ScheduledTask, 't')} as task from scheduled_tasks t`

/** `next_run_at` is left for the caller to work out. */
export async function listTasks(executor: Executor, limit: number, after: Key | null): Promise<ShownTask[]> {
  const rows = await listPage<{ task: ShownTask }>(executor, {
    name: 'scheduled_tasks',
    select: SELECT_TASK,
    orderBy: ['t.name'],
    after,
    limit,
  })
  return rows.map(({ task }) => task)
}

const FIND_TASK = { name: 'scheduled_tasks_find', text: `${SELECT_TASK} where t.name = $1` }

export async function findTask(executor: Executor, name: string): Promise<ShownTask | undefined> {
  return (await runStatement<{ task: ShownTask }>(executor, FIND_TASK, [name]))[0]?.task
}

export const findTaskRow = (executor: Executor, name: string): Promise<ScheduledTaskRow | undefined> =>
  executor.selectFrom('scheduled_tasks').selectAll().where('name', '=', name).executeTakeFirst()

export function lockTask(executor: Executor, name: string): Promise<ScheduledTaskRow | undefined> {
  return executor
    .selectFrom('scheduled_tasks')
    .selectAll()
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst()
}

/** False when there is no such task. A pause that stands keeps its first author and time. */
export async function setPaused(
  executor: Executor,
  name: string,
  pause: { at: string; by: string } | null,
): Promise<boolean> {
  const changes = pause
    ? {
        paused_at: sql<string>`coalesce(paused_at, ${pause.at})`,
        paused_by: sql<string>`coalesce(paused_by, ${pause.by})`,
      }
    : { paused_at: null, paused_by: null }
  return (await TASKS.update(executor, { name }, changes)).length > 0
}

type NewRun = Insertable<Tables['task_runs']>

export async function insertRun(executor: Executor, run: NewRun): Promise<TaskRunRow> {
  return (await RUNS.insert(executor, [run]))[0]!
}

/** Starts a run, or starts it again when its job is tried again. */
export async function beginRun(executor: Executor, run: NewRun): Promise<void> {
  await executor
    .insertInto('task_runs')
    .values(run)
    .onConflict(conflict =>
      conflict.column('id').doUpdateSet({
        status: run.status,
        started_at: run.started_at,
        attempts: sql`task_runs.attempts + 1`,
        finished_at: run.finished_at,
        error: null,
      }),
    )
    .execute()
}

/** The queue runs a task once at a time, so another run that still says `running` has lost its worker. */
export async function failLostRuns(
  executor: Executor,
  task: string,
  current: string,
  at: string,
): Promise<void> {
  await executor
    .updateTable('task_runs')
    .set({ status: 'failed', finished_at: at, error: 'the worker that ran it was lost' })
    .where('task', '=', task)
    .where('status', 'in', ['running', 'queued'])
    .where('id', '!=', current)
    .execute()
}

export async function finishRun(
  executor: Executor,
  id: string,
  status: 'completed' | 'failed',
  at: string,
  error: string | null,
): Promise<void> {
  await executor
    .updateTable('task_runs')
    .set({ status, finished_at: at, error })
    .where('id', '=', id)
    .execute()
}

/**
 * Says what a run has come to, also after its end: some only send jobs. It is worked out while the run's row is locked, so
 * that of two jobs that end together none is forgotten.
 */
export async function noteResult(tx: Executor, id: string, result: () => Promise<object>): Promise<void> {
  const run = await tx
    .selectFrom('task_runs')
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!run) return
  await tx
    .updateTable('task_runs')
    .set({ result: sql`${JSON.stringify(await result())}::jsonb` })
    .where('id', '=', id)
    .execute()
}

export function findRun(executor: Executor, task: string, id: string): Promise<TaskRunRow | undefined> {
  return executor
    .selectFrom('task_runs')
    .selectAll()
    .where('task', '=', task)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Newest first. */
export const listRuns = (
  executor: Executor,
  task: string,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'task_runs',
    select: `select r.id, ${jsonOf(TaskRun, 'r')}::text as json from task_runs r`,
    filters: { task: ['r.task = ?', task] },
    orderBy: ['r.id'],
    descending: true,
    after,
    limit,
  })

export async function deleteRunsBefore(executor: Executor, before: string): Promise<number> {
  const result = await executor
    .deleteFrom('task_runs')
    .where('requested_at', '<', before)
    .where('status', 'in', ['completed', 'failed', 'skipped'])
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
