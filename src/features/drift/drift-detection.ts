// The hourly sweep for drift, five minutes after the resources are synced. It asks only the database, so it shares the
// queue of such tasks and never waits behind a sync that the provider holds up.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { detectDrift } from './detect-drift.ts'

export const driftDetection = (deps: Deps): Task => ({
  name: 'drift_detection',
  description:
    'Compares what was provisioned with what is desired: opens drift, and closes what matches again.',
  queue: 'metering',
  cron: '20 * * * *',
  async run(run) {
    run.log.info(await detectDrift(deps, run), 'drift swept')
  },
})
