// What a scheduled task and its runs look like, when a task is due, and the job that runs it.
import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import type { JobType, QueueName } from '../../kernel/queue/queues.ts'

const TRIGGERS = ['schedule', 'manual'] as const
export type Trigger = (typeof TRIGGERS)[number]
const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'skipped'] as const
type RunStatus = (typeof RUN_STATUSES)[number]

export const TaskRun = noun('TaskRun', {
  id: Id,
  task: Type.String(),
  trigger: Type.Enum([...TRIGGERS]),
  requested_by: Nullable(
    Type.String({ description: 'The user who asked for it; null when the schedule did.' }),
  ),
  status: Type.Enum([...RUN_STATUSES], {
    description: '`skipped`: the tick came while the task was paused.',
  }),
  attempts: Type.Integer(),
  requested_at: Time,
  started_at: Nullable(Time),
  finished_at: Nullable(Time),
  error: Nullable(Type.String()),
  result: Nullable(
    Type.Record(Type.String(), Type.Integer(), {
      description:
        'What it came to, for tasks that say so. Of `resource_sync`: how many `kinds` have been swept so far, the projects with them, and how many of them are `complete`, `partial`, `failed` or `unavailable`. Of `findings`: how many `checks` have run and how many of them `failed`, how many findings are `open` (snoozed ones too), and how many of them were `opened`, `changed` and `closed`.',
    }),
  ),
})

export const ScheduledTask = noun(
  'ScheduledTask',
  {
    name: Type.String(),
    description: Type.String(),
    queue: Type.String(),
    cron: Type.String({ description: 'Minute, hour, day, month, weekday; UTC.' }),
    paused: Type.Boolean(),
    paused_at: Nullable(Time),
    paused_by: Nullable(Type.String()),
    last_run: Nullable(TaskRun),
    next_run_at: Nullable(Time),
  },
  {
    paused: '$.paused_at is not null',
    last_run: `(select ${jsonOf(TaskRun, 'r')} from task_runs r where r.task = $.name order by r.id desc limit 1)`,
    // Worked out from `cron` when it is shown; the column is the tick that workers wait for.
    next_run_at: 'null',
  },
)

export type ScheduledTaskRow = Row<'scheduled_tasks'>
export type TaskRunRow = Row<'task_runs'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    task_runs: { trigger: Trigger; status: RunStatus; result: Record<string, number> | null }
  }
}

export type Tick = Pick<ScheduledTaskRow, 'name' | 'queue' | 'own_queue' | 'cron' | 'next_run_at'> & {
  /** The latest that was run, or skipped. */
  last_tick_at: string | null
  /** The database's clock. */
  now: string
}

/** Whether the tick is due now, and which comes next. */
export function dueTick(
  { cron, next_run_at, last_tick_at, now }: Pick<Tick, 'cron' | 'next_run_at' | 'last_tick_at' | 'now'>,
  tickAfter: (cron: string, time: string) => string,
): { fire: boolean; next: string } {
  const next = next_run_at ?? tickAfter(cron, last_tick_at ?? now)
  if (Date.parse(next) > Date.parse(now)) return { fire: false, next }
  return { fire: true, next: tickAfter(cron, now) }
}

const TaskPayload = Type.Object({ task: Type.String(), trigger: Type.Enum([...TRIGGERS]) })

/** A task as the code declares it, or its row. */
interface QueuedTask {
  name: string
  queue: string
  ownQueue?: boolean
  own_queue?: boolean
}

export const taskJob = (task: QueuedTask): JobType<typeof TaskPayload> => ({
  name: `task.${task.name}`,
  queue: task.queue as QueueName,
  ownQueue: task.ownQueue ?? task.own_queue,
  payload: TaskPayload,
})

/** A task does not wait behind the jobs of its queue: of those there may be hours of work. */
export const FIRST = { priority: 1 }
