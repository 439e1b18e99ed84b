// Rows of the scheduled tasks and of their runs.
import type { Row } from '../../kernel/db/tables.ts'

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'skipped'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]
export const TRIGGERS = ['schedule', 'manual'] as const
export type Trigger = (typeof TRIGGERS)[number]

export type ScheduledTaskRow = Row<'scheduled_tasks'>
export type TaskRunRow = Row<'task_runs'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    task_runs: { trigger: Trigger; status: RunStatus }
  }
}
