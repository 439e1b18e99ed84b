// The one place that chooses the engine: PostgreSQL when there is an address, else PGlite in the data folder.
import type { Logger } from 'pino'
import type { Pooler } from './connection.ts'
import type { Engine } from './engine.ts'
import { openPglite } from './pglite.ts'
import { openPostgres } from './postgres.ts'

export interface OpenOptions {
  url: string | undefined
  poolSize: number
  pooler: Pooler
  statementSeconds: number
  dataDir: string
  log: Logger
}

export async function open({ url, dataDir, statementSeconds, ...rest }: OpenOptions): Promise<Engine> {
  return url ? openPostgres({ url, statementMs: statementSeconds * 1000, ...rest }) : openPglite({ dataDir })
}

/** A database that is still starting is waited for; one that never comes is reported. */
export async function waitUntilReachable(engine: Engine, log: Logger, patienceMs: number): Promise<void> {
  const giveUpAt = Date.now() + patienceMs
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
