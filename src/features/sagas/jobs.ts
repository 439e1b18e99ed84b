// The job that drives a run.
import type { Kernel } from '../../kernel/kernel.ts'
import { handle, type JobHandler } from '../../kernel/queue/job.ts'
import { driveRun } from './drive-run.ts'
import { hands } from './hands.ts'
import { registryOf } from './registry.ts'
import { sagaJob } from './saga-job.ts'
import type { SagaKind } from './step.ts'

export function sagaHandlers(kernel: Kernel, kinds: readonly SagaKind[]): JobHandler[] {
  const runner = {
    kernel,
    registry: registryOf(kinds),
    hands: hands(kernel.engine.read, kernel.log),
  }
  return [handle(sagaJob, ({ saga_id }, job) => driveRun(runner, saga_id, job))]
}
