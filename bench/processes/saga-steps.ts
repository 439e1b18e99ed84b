// Runs of five no-op steps through the service's own queue and engine: started in a transaction as the API does, fetched
// by its workers, every step in the ledger.

import { Type } from 'typebox'
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { type SagaKind, startSaga } from '../../src/features/sagas/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { boundHeapGrowth } from '../../src/kernel/heap-growth.ts'
import { startWorker } from '../../src/worker.ts'
import { type Batch, inFlight, STEPS, type Stepped } from '../figures/sagas.ts'
import { working } from '../process.ts'

/** Who waits for the last step of a run, by the run's id. */
const waiting = new Map<string, () => void>()

const kind: SagaKind = {
  kind: 'no_op',
  inputs: Type.Object({}),
  prepare: async () => ({ businessKey: '', deploymentId: null, tenantId: null }),
  steps: Array.from({ length: STEPS }, (_, index) => ({
    name: `step_${index}`,
    async execute({ sagaId }) {
      if (index === STEPS - 1) waiting.get(sagaId)?.()
      return { ok: true, output: { index } }
    },
    compensate: async () => ({ ok: true }),
  })),
}

const { config } = readConfig({ ...process.env })
const context = await createContext({ config, worker: true, sagaKinds: () => [kind] })
await startWorker(context)
let made = 0

async function runOnce(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await transaction(context.db, async tx => {
    const { id } = await startSaga(context, tx, {
      kind,
      inputs: {},
      businessKey: String(++made),
      deploymentId: null,
      tenantId: null,
      actor: 'bench',
    })
    waiting.set(id, () => {
      waiting.delete(id)
      resolve()
    })
  })
  await promise
}

/** The last write of the last runs is in the time too. */
async function allCompleted(): Promise<void> {
  for (;;) {
    const { count } = await context.db
      .selectFrom('saga_runs')
      .select(eb => eb.fn.countAll<number>().as('count'))
      .where('status', '!=', 'completed')
      .executeTakeFirstOrThrow()
    if (Number(count) === 0) return
  }
}

// As a process of the service does.
boundHeapGrowth()

working<Batch, Stepped>(async ({ runs, atOnce }) => {
  const began = performance.now()
  await inFlight(runs, atOnce, runOnce)
  await allCompleted()
  const ms = performance.now() - began
  const { count } = await context.db
    .selectFrom('saga_step_results')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'completed')
    .executeTakeFirstOrThrow()
  return { ms, recorded: Number(count) }
})
