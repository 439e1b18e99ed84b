// A paused task's ticks are skipped until it is resumed. Both may be said twice.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { setPaused } from './repository.ts'

export async function pauseTask({ db, clock }: Deps, name: string, by: string): Promise<void> {
  const at = clock.now().toISOString()
  if (!(await transaction(db, tx => setPaused(tx, name, at, by)))) throw notFound()
}

export async function resumeTask({ db }: Deps, name: string): Promise<void> {
  if (!(await transaction(db, tx => setPaused(tx, name, null, null)))) throw notFound()
}
