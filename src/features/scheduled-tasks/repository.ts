// SQL of the scheduled tasks and their runs.
import { type Selectable, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import type { ScheduledTaskRow, TaskRunRow } from './tables.ts'

export type TaskWithLastRun = Omit<ScheduledTaskRow, 'next_run_at' | 'own_queue'> & {
  last_run: TaskRunRow | null
}

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

export type Tick = Pick<ScheduledTaskRow, 'name' | 'queue' | 'cron' | 'next_run_at'> & {
  own_queue: boolean
  /** The latest that was run, or skipped. */
  last_tick_at: string | null
  /** The database's clock. */
  now: string
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

const SELECT_TASK = `
  select t.name, t.description, t.queue, t.cron, t.paused_at, t.paused_by,
         r.id as run_id, r.trigger, r.requested_by, r.status, r.attempts, r.requested_at, r.started_at, r.finished_at, r.error
  from scheduled_tasks t
  left join lateral (select * from task_runs where task = t.name order by id desc limit 1) r on true`

type JoinedRow = Omit<ScheduledTaskRow, 'next_run_at' | 'own_queue'> &
  Omit<TaskRunRow, 'id' | 'task'> & { run_id: string | null }

export async function listTasks(
  executor: Executor,
  limit: number,
  after: string | null,
): Promise<TaskWithLastRun[]> {
  const statement = {
    name: 'scheduled_tasks_list',
    text: `${SELECT_TASK} where t.name > $1 order by t.name limit $2`,
  }
  return (await runStatement<JoinedRow>(executor, statement, [after ?? '', limit])).map(splitJoined)
}

export async function findTask(executor: Executor, name: string): Promise<TaskWithLastRun | undefined> {
  const statement = { name: 'scheduled_tasks_find', text: `${SELECT_TASK} where t.name = $1` }
  const [row] = await runStatement<JoinedRow>(executor, statement, [name])
  return row && splitJoined(row)
}

function splitJoined(row: JoinedRow): TaskWithLastRun {
  const { name, description, queue, cron, paused_at, paused_by, run_id: id } = row
  const { trigger, requested_by, status, attempts, requested_at, started_at, finished_at, error } = row
  const run = { trigger, requested_by, status, attempts, requested_at, started_at, finished_at, error }
  const last_run = id === null ? null : { id, task: name, ...run }
  return { name, description, queue, cron, paused_at, paused_by, last_run }
}

export function lockTask(
  executor: Executor,
  name: string,
): Promise<Selectable<ScheduledTaskRow> | undefined> {
  return executor
    .selectFrom('scheduled_tasks')
    .selectAll()
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst()
}

export async function setPaused(
  executor: Executor,
  name: string,
  at: string | null,
  by: string | null,
): Promise<boolean> {
  // A pause that stands keeps its first author and time.
  const changes =
    at === null
      ? { paused_at: null, paused_by: null }
      : {
          paused_at: sql<string>`coalesce(paused_at, ${at})`,
          paused_by: sql<string>`coalesce(paused_by, ${by})`,
        }
  return (await TASKS.update(executor, { name }, changes)).length > 0
}

export async function insertRun(executor: Executor, run: TaskRunRow): Promise<void> {
  await RUNS.insert(executor, [run])
}

/** Starts a run, or starts it again when its job is tried again. */
export async function beginRun(executor: Executor, run: TaskRunRow): Promise<void> {
  await executor
    .insertInto('task_runs')
    .values(run)
    .onConflict(conflict =>
      conflict.column('id').doUpdateSet({
        status: run.status,
        started_at: run.started_at,
        attempts: sql`task_runs.attempts + 1`,
        finished_at: run.finished_at,
        error: run.error,
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

export function findRun(executor: Executor, task: string, id: string): Promise<TaskRunRow | undefined> {
  return executor
    .selectFrom('task_runs')
    .selectAll()
    .where('task', '=', task)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function listRuns(
  executor: Executor,
  task: string,
  limit: number,
  before: string | null,
): Promise<TaskRunRow[]> {
  return executor
    .selectFrom('task_runs')
    .selectAll()
    .where('task', '=', task)
    .$if(before !== null, query => query.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export async function deleteRunsBefore(executor: Executor, before: string): Promise<number> {
  const result = await executor
    .deleteFrom('task_runs')
    .where('requested_at', '<', before)
    .where('status', 'in', ['completed', 'failed', 'skipped'])
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
