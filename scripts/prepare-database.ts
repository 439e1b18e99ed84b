// Makes the prepared database (src/kernel/db/prepared-database.ts), unless it is there.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Engine } from '../src/kernel/db/engine.ts'
import { migrate } from '../src/kernel/db/migrations.ts'
import { openPglite } from '../src/kernel/db/pglite.ts'
import { CACHE, preparedDatabase } from '../src/kernel/db/prepared-database.ts'
import { createMetrics } from '../src/kernel/metrics.ts'
import { createJobs } from '../src/kernel/queue/jobs.ts'
import { systemClock } from '../src/kernel/time.ts'

export async function prepareDatabase(): Promise<void> {
  const folder = preparedDatabase()
  if (existsSync(folder)) return
  mkdirSync(CACHE, { recursive: true })
  const draft = join(CACHE, `build-${randomBytes(4).toString('hex')}`)
  try {
    const engine = await openPglite({ dataDir: draft })
    await fill(engine).finally(() => engine.close())
    renameSync(draft, folder)
  } catch (error) {
    // Of two that make it at once, one is first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The service's tables, and the queue's. */
export async function fill(engine: Engine): Promise<void> {
  await migrate(engine, systemClock)
  const log = pino({ level: 'silent' })
  const jobs = createJobs({ engine, log, metrics: createMetrics(), worker: false })
  await jobs.start()
  await jobs.stop(1_000)
}
