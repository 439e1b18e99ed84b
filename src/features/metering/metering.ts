// The hourly task that meters. At minute 40 the sweep of minute 15 has long been written.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { meterHours } from './meter-hours.ts'

export const metering = (deps: Deps): Task => ({
  name: 'metering',
  description: 'Meters, hour by hour, how long resources of each kind lived for each deployment.',
  queue: 'metering',
  cron: '40 * * * *',
  async run(run) {
    await meterHours(deps, run)
  },
})
