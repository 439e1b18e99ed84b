// Runs whose worker died are found, marked and sent to another. Every worker looks every few seconds; the scheduled task
// does the same, so that operators see it and can ask for it.

import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { every } from '../../kernel/time.ts'
import { rescuePlan, type Stranded } from './rescue-plan.ts'
import { lockStranded, markRescued, type Patience, suspectSilent } from './rescue-repository.ts'
import { sagaJob, sendRun } from './saga-job.ts'

/**
 * With a look every 5 seconds, a dead worker's run is found after 23 at the latest. After an outage a living worker has
 * time for three beats before it is thought dead.
 */
const PATIENCE: Patience = { silentMs: 8_000, suspectMs: 9_000, waitingMs: 12_000 }
const LOOK_MS = 5_000

/** How many runs were taken from dead workers, or sent again because their job was gone. */
export async function rescueRuns(deps: Deps, log: Logger, patience = PATIENCE): Promise<number> {
  const { rescued, suspected } = await transaction(deps.db, async tx => {
    const stranded = await lockStranded(tx, patience)
    for (const run of stranded) await rescue(deps, tx, run, log)
    return { rescued: stranded.length, suspected: await suspectSilent(tx, patience) }
  })
  if (suspected > 0) log.warn({ runs: suspected }, 'sagas without a heartbeat: their worker may have died')
  return rescued
}

async function rescue(deps: Deps, tx: Deps['db'], run: Stranded, log: Logger): Promise<void> {
  const plan = rescuePlan(run)
  const jobId = newId()
  await markRescued(tx, run, plan, jobId)
  // The dead worker's job would become a dead letter, and there is nothing about it for an operator to do.
  await deps.jobs.discard(tx, sagaJob, run.job_id)
  const about = { saga_id: run.id, saga: run.kind, rescue: plan.do, step: run.step }
  if (plan.do !== 'give_up') {
    await sendRun(deps, tx, run.id, jobId)
    log.warn(about, run.driven ? 'saga taken from a dead worker' : 'saga sent again: its job was gone')
    return
  }
  deps.metrics.sagaRuns.inc({ kind: run.kind, outcome: 'failed' })
  log.error({ ...about, reason: plan.error.reason }, 'saga failed')
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

/** Looks until the process is told to stop. */
export function watchSagas(deps: Deps): void {
  const { log } = deps
  every({ everyMs: LOOK_MS, until: deps.jobs.leaving, log, what: 'the rescue of sagas' }, async () => {
    await rescueRuns(deps, log)
  })
}
