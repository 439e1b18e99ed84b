// Rows of the scheduled tasks and of their runs.
import type { Generated } from 'kysely'

export interface ScheduledTaskRow {
  name: string
  description: string
  queue: string
  cron: string
  paused_at: string | null
  paused_by: string | null
  next_run_at: string | null
  own_queue: Generated<boolean>
}

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'skipped'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
export const TRIGGERS = ['schedule', 'manual'] as const
export type Trigger = (typeof TRIGGERS)[number]

export interface TaskRunRow {
  id: string
  task: string
  trigger: Trigger
  requested_by: string | null
  status: RunStatus
  attempts: number
  requested_at: string
  started_at: string | null
  finished_at: string | null
  error: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    scheduled_tasks: ScheduledTaskRow
    task_runs: TaskRunRow
  }
}
