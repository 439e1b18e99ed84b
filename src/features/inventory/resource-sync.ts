// The hourly sweep of everything.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { sendSweep } from './jobs.ts'

/** Both have to be able to ask: a sweep without the projects would leave resources without tenants. */
const QUEUES = ['cloud_sync_full', 'cloud_sync_slow'] as const

export const resourceSync = (deps: Deps): Task => ({
  name: 'resource_sync',
  description: 'Mirrors the provider’s projects and resources: one job for each kind, one for the projects.',
  queue: 'cloud_sync_full',
  cron: '15 * * * *',
  // The run's id is the sweep's: a task that is tried again continues the same sweep.
  async run({ id }) {
    // Said once, by the task, rather than by each of its jobs.
    for (const queue of QUEUES) {
      const { absent } = deps.providers.for(queue)
      if (absent) throw new Error(absent)
    }
    await sendSweep(deps, id)
  },
})
