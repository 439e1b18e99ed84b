// What brings runs to a process: their jobs, a poll for those that another version has left alone, and the rescue.
import type { Deps } from '../../deps.ts'
import { handle, type JobHandler, type Task } from '../../kernel/queue/queues.ts'
import { every } from '../../kernel/time.ts'
import { rescueRuns, sagaJob } from './actions.ts'
import { createDriver } from './driver.ts'
import { registryOf, type SagaKind } from './step.ts'

const LEFT_ALONE_POLL_MS = 2_000
const RESCUE_POLL_MS = 5_000

export function sagaHandlers(deps: Deps, kinds: readonly SagaKind[]): JobHandler[] {
  const driver = createDriver(deps, registryOf(kinds))
  const { log, jobs } = deps
  every(
    { everyMs: LEFT_ALONE_POLL_MS, until: jobs.leaving, log, what: 'the poll for sagas left alone' },
    driver.takeLeft,
  )
  return [handle(sagaJob, ({ saga_id }) => driver.take(saga_id))]
}

export const sagaRescue = (deps: Deps): Task => ({
  name: 'saga_rescue',
  description: 'Finds sagas whose worker died and has them undone; every worker also looks every 5 seconds.',
  // Not the sagas' own queue, where it would wait behind them.
  queue: 'cloud_sync_fast',
  cron: '* * * * *',
  async run({ log }) {
    await rescueRuns(deps, log)
  },
})

/** Rescues until the process is told to stop. */
export function watchSagas(deps: Deps): void {
  const { log, jobs } = deps
  every({ everyMs: RESCUE_POLL_MS, until: jobs.leaving, log, what: 'the rescue of sagas' }, async () => {
    await rescueRuns(deps, log)
  })
}
