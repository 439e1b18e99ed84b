// The hourly sweep of everything.
import type { Task } from '../../kernel/queue/queues.ts'
import type { InventoryKernel } from './inventory-kernel.ts'
import { sendSweep } from './jobs.ts'

/** Both have to be able to ask: a sweep without the projects would leave resources without tenants. */
const QUEUES = ['cloud_sync_full', 'cloud_sync_slow'] as const

export const resourceSync = (kernel: InventoryKernel): Task => ({
  name: 'resource_sync',
  description: 'Mirrors the provider’s projects and resources: one job for each kind, one for the projects.',
  queue: 'cloud_sync_full',
  cron: '15 * * * *',
  // The run's id is the sweep's: a task that is tried again continues the same sweep.
  async run({ id }) {
    // Said once, by the task, rather than by each of its jobs.
    for (const queue of QUEUES) {
      const { absent } = kernel.providers.for(queue)
      if (absent) throw new Error(absent)
    }
    await sendSweep(kernel, id)
  },
})
