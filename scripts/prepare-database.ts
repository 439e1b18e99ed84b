// Makes the prepared database (src/kernel/db/prepared-database.ts), unless it is there.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Engine } from '../src/kernel/db/engine.ts'
import { openPglite } from '../src/kernel/db/pglite.ts'
import { CACHE, preparedDatabase } from '../src/kernel/db/prepared-database.ts'
import { systemClock } from '../src/kernel/time.ts'

export async function prepareDatabase(): Promise<void> {
  const folder = preparedDatabase()
  if (existsSync(folder)) return
  mkdirSync(CACHE, { recursive: true })
  const draft = join(CACHE, `build-${randomBytes(4).toString('hex')}`)
  try {
    const engine = await openPglite({ dataDir: draft })
    await fill(engine)
    renameSync(draft, folder)
  } catch (error) {
    // Of two that make it at once, one is first.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The tables of the service and of the queue, and the queues of all tasks; then closes the database. */
export async function fill(engine: Engine): Promise<void> {
  // Loaded here, for they are all of the service, and mostly the database is there.
  const { readConfig } = await import('../src/config.ts')
  const { createContext } = await import('../src/context.ts')
  const { declareJobs } = await import('../src/worker.ts')
  const secret = () => randomBytes(48).toString('base64')
  const secrets = { JWT_SECRET: secret(), SECRET_KEY: secret(), SESSION_SIGNING_SALT: secret() }
  const { config } = readConfig(secrets)
  const log = pino({ level: 'silent' })
  const ctx = await createContext({ config, worker: false, clock: systemClock, log, engine })
  await declareJobs(ctx).finally(() => ctx.close(1_000))
}
