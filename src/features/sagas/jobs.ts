// What brings a run to a process: its job, and a look at what another version has left alone.

import type { Deps } from '../../deps.ts'
import { handle, type JobHandler } from '../../kernel/queue/queues.ts'
import { every } from '../../kernel/time.ts'
import { createDriver } from './driver.ts'
import { registryOf } from './registry.ts'
import { sagaJob } from './saga-job.ts'
import type { SagaKind } from './step.ts'

const LOOK_MS = 2_000

export function sagaHandlers(deps: Deps, kinds: readonly SagaKind[]): JobHandler[] {
  const driver = createDriver(deps, registryOf(kinds))
  const { log } = deps
  every(
    { everyMs: LOOK_MS, until: deps.jobs.leaving, log, what: 'the look at sagas left alone' },
    driver.takeLeft,
  )
  return [handle(sagaJob, ({ saga_id }) => driver.take(saga_id))]
}
