// The job that brings a run to a process.
import type { Kernel } from '../../kernel/kernel.ts'
import { handle, type JobHandler } from '../../kernel/queue/job.ts'
import { createDriver } from './driver.ts'
import { registryOf } from './registry.ts'
import { sagaJob } from './saga-job.ts'
import type { SagaKind } from './step.ts'

export function sagaHandlers(kernel: Kernel, kinds: readonly SagaKind[]): JobHandler[] {
  const driver = createDriver(kernel, registryOf(kinds))
  return [handle(sagaJob, ({ saga_id }) => driver.take(saga_id))]
}
