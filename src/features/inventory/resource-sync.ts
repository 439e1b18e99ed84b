// The hourly sweep of everything.
import type { Task } from '../../kernel/queue/task.ts'
import type { InventoryKernel } from './inventory-kernel.ts'
import { sendSweep } from './jobs.ts'

export const resourceSync = (kernel: InventoryKernel): Task => ({
  name: 'resource_sync',
  description: 'Mirrors the provider’s projects and resources: one job for each kind, one for the projects.',
  queue: 'cloud_sync_full',
  cron: '15 * * * *',
  // The run's id is the sweep's: a task that is tried again continues the same sweep.
  async run({ id }) {
    // Said once, by the task, rather than by each of its jobs.
    if (kernel.provider.absent) throw new Error(kernel.provider.absent)
    await sendSweep(kernel, id)
  },
})
