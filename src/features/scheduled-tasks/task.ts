// The job that a scheduled task runs as.
import { Type } from 'typebox'
import type { JobType, QueueName } from '../../kernel/queue/queues.ts'
import { TRIGGERS } from './tables.ts'

const TaskPayload = Type.Object({ task: Type.String(), trigger: Type.Enum([...TRIGGERS]) })

/** Of a task as the code has it, or as its row does. */
interface TaskPlace {
  name: string
  queue: string
  ownQueue?: boolean
  own_queue?: boolean
}

/** Each task's job stands in the task's own queue. */
export const taskJob = (task: TaskPlace): JobType<typeof TaskPayload> => ({
  name: `task.${task.name}`,
  queue: task.queue as QueueName,
  ownQueue: task.ownQueue ?? task.own_queue,
  payload: TaskPayload,
})

/** A task does not wait behind the jobs of its queue: of those there may be hours of work. */
export const FIRST = { priority: 1 }
