// A paused task's ticks are skipped until it is resumed. Both may be said twice.
import { notFound } from '../../kernel/errors.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { setPaused } from './repository.ts'

export async function pauseTask({ db, clock }: Kernel, name: string, by: string): Promise<void> {
  if (!(await setPaused(db, name, clock.now().toISOString(), by))) throw notFound()
}

export async function resumeTask({ db }: Kernel, name: string): Promise<void> {
  if (!(await setPaused(db, name, null, null))) throw notFound()
}
