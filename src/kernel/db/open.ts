// The one place that chooses the engine: PostgreSQL when there is an address, else PGlite in the data folder.
import type { Logger } from 'pino'
import type { Pooler } from './connection.ts'
import type { Engine } from './engine.ts'
import { openPglite } from './pglite.ts'
import { openPostgres } from './postgres.ts'

/** The part of the configuration that is about the database. */
export interface DatabaseConfig {
  DATABASE_URL: string | undefined
  DATABASE_POOL_SIZE: number
  DATABASE_POOLER: Pooler
  DATABASE_STATEMENT_SECONDS: number
  DATA_DIR: string
}

export interface OpenOptions {
  /** Whether a new embedded database may begin as the prepared one, which is migrated already. */
  prepared?: boolean
}

export async function open(
  config: DatabaseConfig,
  log: Logger,
  { prepared }: OpenOptions = {},
): Promise<Engine> {
  if (!config.DATABASE_URL) return openPglite({ dataDir: config.DATA_DIR, prepared })
  return openPostgres({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    pooler: config.DATABASE_POOLER,
    statementMs: config.DATABASE_STATEMENT_SECONDS * 1000,
    log,
  })
}

/** A database that is still starting is waited for; one that never comes is reported. */
export async function waitUntilReachable(engine: Engine, log: Logger, timeoutMs: number): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs
  for (let pause = 250; ; pause = Math.min(pause * 2, 4_000)) {
    try {
      return await engine.ping(5_000)
    } catch (error) {
      if (Date.now() + pause > giveUpAt) throw error
      log.warn({ err: error, retry_in_ms: pause }, 'the database does not answer yet')
      await new Promise(resolve => setTimeout(resolve, pause))
    }
  }
}
