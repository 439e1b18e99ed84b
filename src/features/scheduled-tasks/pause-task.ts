// A paused task's ticks are skipped until it is resumed. Both may be said twice.
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { setPaused } from './repository.ts'

export async function pauseTask({ db, clock }: Kernel, name: string, by: string): Promise<void> {
  const at = clock.now().toISOString()
  if (!(await transaction(db, tx => setPaused(tx, name, at, by)))) throw notFound()
}

export async function resumeTask({ db }: Kernel, name: string): Promise<void> {
  if (!(await transaction(db, tx => setPaused(tx, name, null, null)))) throw notFound()
}
