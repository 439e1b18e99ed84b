// The sweep: what differs from what is desired is opened, what no longer does becomes stale, and each is reported once. It
// may run beside a sync: every resource is read as some sync left it, whole.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun, Task } from '../../kernel/queue/queues.ts'
import { recordDriftEvents } from '../inventory/index.ts'
import { alike } from './spec.ts'
import { lockDesiredStates } from './store.ts'
import {
  type Difference,
  desiredOf,
  differencesOf,
  recordMismatches,
  type Suspect,
  suspectsOf,
  windowFrom,
} from './sweep-store.ts'

/**
 * Five minutes after the resources are synced. It needs only the database, so it shares the queue of such tasks and never
 * waits behind a sync that the provider delays.
 */
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

const RESOURCES_A_BATCH = 500
/** Sorts before every id there is. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** As it is logged. */
export interface Swept {
  /** Mismatches that are open now. */
  open: number
  /** Of those reported: newly open, or with another live value than before. */
  told: number
  ignored: number
  /** Closed, because they match again. */
  stale: number
}

export async function detectDrift(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { id, signal }: Pick<JobRun, 'id' | 'signal'>,
): Promise<Swept> {
  const mark = { at: clock.now().toISOString(), actor: `drift:${id}` }
  const swept: Swept = { open: 0, told: 0, ignored: 0, stale: 0 }
  for (let from: string | null = FIRST_ID; from !== null; ) {
    const window = await windowFrom(db, from)
    const suspects = await transaction(db, tx => suspectsOf(tx, window))
    for (let first = 0; first < suspects.length; first += RESOURCES_A_BATCH) {
      signal.throwIfAborted()
      await sweepBatch(db, mark, suspects.slice(first, first + RESOURCES_A_BATCH), swept)
    }
    from = window.to
  }
  return swept
}

/**
 * The same for resources that have changed just now, so that nobody waits for the next sweep. Should it fail, the sweep finds
 * them all the same: the change itself stands.
 */
export async function driftOfChanged(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  resourceIds: string[],
): Promise<void> {
  const mark = { at: clock.now().toISOString(), actor: 'drift:change' }
  const swept: Swept = { open: 0, told: 0, ignored: 0, stale: 0 }
  try {
    for (let first = 0; first < resourceIds.length; first += RESOURCES_A_BATCH) {
      const suspects = await desiredOf(db, resourceIds.slice(first, first + RESOURCES_A_BATCH))
      await sweepBatch(db, mark, suspects, swept)
    }
    if (swept.told + swept.stale > 0) log.info(swept, 'drift of changed resources')
  } catch (error) {
    log.warn({ err: error }, 'drift of changed resources is left to the sweep')
  }
}

async function sweepBatch(
  db: Executor,
  mark: { at: string; actor: string },
  suspects: Suspect[],
  swept: Swept,
): Promise<void> {
  // Most suspects without drift on record turn out to match, which takes no lock.
  const suspected = suspects.filter(({ on_record }) => !on_record).map(idOf)
  const differing = new Set((await mismatchesOf(db, suspected)).map(idOf))
  const concerned = suspects
    .filter(({ on_record, resource_id }) => on_record || differing.has(resource_id))
    .map(idOf)
  if (concerned.length === 0) return
  const recorded = await transaction(db, async tx => {
    await lockDesiredStates(tx, concerned)
    // Again, now that no accept can change them.
    const found = await mismatchesOf(tx, concerned)
    const outcome = await recordMismatches(tx, mark, concerned, found)
    await recordDriftEvents(tx, mark, outcome.reported)
    return outcome
  })
  swept.open += recorded.open
  swept.told += recorded.reported.length
  swept.ignored += recorded.ignored
  swept.stale += recorded.stale
}

const idOf = ({ resource_id }: { resource_id: string }) => resource_id

async function mismatchesOf(executor: Executor, resourceIds: string[]): Promise<Difference[]> {
  if (resourceIds.length === 0) return []
  const differences = await differencesOf(executor, resourceIds)
  return differences.filter(({ desired, actual }) => !alike(JSON.parse(desired), JSON.parse(actual)))
}
