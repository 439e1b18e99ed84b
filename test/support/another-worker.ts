// A second worker on a test's database, as another process would be: its own queue client, the same workflows or others.
import type { TestContext } from 'node:test'
import { type Context, createContext } from '../../src/context.ts'
import type { SagaKind } from '../../src/features/sagas/index.ts'
import type { Engine } from '../../src/kernel/db/engine.ts'
import { startWorker } from '../../src/worker.ts'
import type { Bundle } from './setup.ts'

export async function anotherWorker(
  t: TestContext,
  { ctx }: Bundle,
  { kinds = ctx.sagaKinds, engine = ctx.engine }: { kinds?: readonly SagaKind[]; engine?: Engine } = {},
): Promise<Context> {
  const { config, clock, log, providers } = ctx
  const other = await createContext({
    config,
    worker: true,
    engine,
    clock,
    log,
    providers,
    sagaKinds: () => [...kinds],
  })
  t.after(() => other.jobs.stop(5_000))
  await startWorker(other)
  return other
}
