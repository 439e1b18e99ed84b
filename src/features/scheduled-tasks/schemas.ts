// The API's words for scheduled tasks.
import { Type } from 'typebox'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { RUN_STATUSES, TRIGGERS } from './tables.ts'

export const TaskParams = Type.Object({ name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }) })
export const RunParams = Type.Object({ ...TaskParams.properties, run_id: Id })

export const TaskRun = Type.Object({
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
})

export const ScheduledTask = Type.Object({
  name: Type.String(),
  description: Type.String(),
  queue: Type.String(),
  cron: Type.String({ description: 'Minute, hour, day, month, weekday; UTC.' }),
  paused: Type.Boolean(),
  paused_at: Nullable(Time),
  paused_by: Nullable(Type.String()),
  last_run: Nullable(TaskRun),
  next_run_at: Nullable(Time),
})
