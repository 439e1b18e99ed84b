// The job that a scheduled task runs as.
import { Type } from 'typebox'
import type { JobType } from '../../kernel/queue/job.ts'
import type { QueueName } from '../../kernel/queue/queues.ts'
import { TRIGGERS } from './tables.ts'

const TaskPayload = Type.Object({ task: Type.String(), trigger: Type.Enum([...TRIGGERS]) })

/** Each task's job stands in the task's own queue. */
export const taskJob = (task: { name: string; queue: string }): JobType<typeof TaskPayload> => ({
  name: `task.${task.name}`,
  queue: task.queue as QueueName,
  payload: TaskPayload,
})

/** A task does not wait behind the jobs of its queue: of those there may be hours of work. */
export const FIRST = { priority: 1 }
