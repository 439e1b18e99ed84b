// A second worker on a test's database, as another process would be: its own queue client, the same workflows.
import type { TestContext } from 'node:test'
import { type Context, createContext } from '../../src/context.ts'
import { startWorker } from '../../src/worker.ts'
import type { Bundle } from './setup.ts'

export async function anotherWorker(t: TestContext, { ctx }: Bundle): Promise<Context> {
  const { config, engine, clock, log, providers, sagaKinds } = ctx
  const other = await createContext({
    config,
    worker: true,
    engine,
    clock,
    log,
    providers,
    sagaKinds: () => [...sagaKinds],
  })
  t.after(() => other.jobs.stop(5_000))
  await startWorker(other)
  return other
}
