// The job that a scheduled task runs as.
import { Type } from 'typebox'
import type { JobType, Schedule } from '../../kernel/queue/job.ts'
import type { QueueName } from '../../kernel/queue/queues.ts'
import type { Task } from '../../kernel/queue/task.ts'
import { TRIGGERS } from './tables.ts'

const TaskPayload = Type.Object({ task: Type.String(), trigger: Type.Enum([...TRIGGERS]) })

/** Each task's job stands in the task's own queue. */
export const taskJob = (task: { name: string; queue: string }): JobType<typeof TaskPayload> => ({
  name: `task.${task.name}`,
  queue: task.queue as QueueName,
  payload: TaskPayload,
})

export const taskSchedule = (task: Task): Schedule<typeof TaskPayload> => ({
  type: taskJob(task),
  key: task.name,
  cron: task.cron,
  payload: { task: task.name, trigger: 'schedule' },
})
