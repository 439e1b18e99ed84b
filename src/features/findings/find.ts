// A run of all checks, one after the other, each in a transaction of its own: one that fails leaves what it had found, and stops
// no other.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Check } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { type Recorded, recordFailure, recordFound } from './record-found.ts'

/** As the task's run says it. */
export interface Found extends Recorded {
  checks: number
  failed: number
}

export async function findAll(
  { db, clock, findingPolicy }: Pick<Deps, 'db' | 'clock' | 'findingPolicy'>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  checks: readonly Check[] = CHECKS,
): Promise<Found> {
  const all: Found = { checks: 0, failed: 0, open: 0, opened: 0, changed: 0, closed: 0 }
  for (const check of checks) {
    signal.throwIfAborted()
    all.checks++
    const at = clock.now().toISOString()
    try {
      const recorded = await transaction(db, tx => recordFound(tx, check, at, findingPolicy))
      for (const key of ['open', 'opened', 'changed', 'closed'] as const) all[key] += recorded[key]
    } catch (error) {
      all.failed++
      log.error({ err: error, check: check.name }, 'a check failed')
      await recordFailure(db, check, at, reasonOf(error))
    }
  }
  log.info(all, 'findings looked for')
  return all
}
