// The sweep: what differs from what is desired opens, what no longer does goes stale, and each is told once. It may run
// beside a sync: every resource is read as some sync left it, whole.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun } from '../../kernel/queue/queues.ts'
import { recordDriftEvents } from '../inventory/index.ts'
import { alike } from './compare.ts'
import {
  type Difference,
  differencesOf,
  lockDesiredStates,
  recordMismatches,
  type Suspect,
  suspectsOf,
  windowFrom,
} from './sweep-repository.ts'

const RESOURCES_A_BATCH = 500
/** Sorts before every id there is. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export interface Swept {
  /** Mismatches that are open now. */
  open: number
  /** Of those: newly open, or with another live value than before. */
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
      await look(db, mark, suspects.slice(first, first + RESOURCES_A_BATCH), swept)
    }
    from = window.to
  }
  return swept
}

async function look(
  db: Executor,
  mark: { at: string; actor: string },
  suspects: Suspect[],
  swept: Swept,
): Promise<void> {
  // What is only suspected is mostly cleared without a lock.
  const suspected = suspects.filter(({ standing }) => !standing).map(idOf)
  const differing = new Set((await mismatchesOf(db, suspected)).map(idOf))
  const concerned = suspects
    .filter(({ standing, resource_id }) => standing || differing.has(resource_id))
    .map(idOf)
  if (concerned.length === 0) return
  const recorded = await transaction(db, async tx => {
    await lockDesiredStates(tx, concerned)
    // Again, now that no accept can come between.
    const found = await mismatchesOf(tx, concerned)
    const outcome = await recordMismatches(tx, mark, concerned, found)
    await recordDriftEvents(tx, mark, outcome.told)
    return outcome
  })
  swept.open += recorded.open
  swept.told += recorded.told.length
  swept.ignored += recorded.ignored
  swept.stale += recorded.stale
}

const idOf = ({ resource_id }: { resource_id: string }) => resource_id

async function mismatchesOf(executor: Executor, resourceIds: string[]): Promise<Difference[]> {
  if (resourceIds.length === 0) return []
  const differences = await differencesOf(executor, resourceIds)
  return differences.filter(({ desired, actual }) => !alike(JSON.parse(desired), JSON.parse(actual)))
}
