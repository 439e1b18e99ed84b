// PostgreSQL through node-postgres.
import { Kysely } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { within } from '../deadline.ts'
import { ActingPostgresDialect } from './acting-dialect.ts'
import { parsers } from './column-values.ts'
import type { Engine, Session } from './engine.ts'
import { PreparingClient } from './preparing-client.ts'
import type { Tables } from './tables.ts'

const CONNECT_TIMEOUT_MS = 3_000
const QUEUE_POOL_SIZE = 4

export interface PostgresOptions {
  url: string
  poolSize: number
  log: Logger
}

export function openPostgres({ url, poolSize, log }: PostgresOptions): Engine {
  const pool = new pg.Pool({
    connectionString: url,
    Client: PreparingClient,
    max: poolSize,
    application_name: 'cloudops',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A half-open connection must not hold a request for ever when the database's host vanishes.
    keepAlive: true,
    query_timeout: 60_000,
    // Compiling a statement takes longer than any of ours should run.
    options: '-c timezone=UTC -c jit=off -c idle_in_transaction_session_timeout=60000',
    types: { getTypeParser: (oid, format) => parsers[oid as number] ?? pg.types.getTypeParser(oid, format) },
  })
  // Both are needed: the pool reports errors of idle clients, but a backend that dies while its client is checked
  // out emits on the client alone, and an `error` nobody listens to ends the process.
  pool.on('error', error => log.warn({ err: error }, 'a database connection was lost'))
  pool.on('connect', client =>
    client.on('error', error => log.debug({ err: error }, 'a database client failed')),
  )

  return {
    kind: 'postgres',
    db: new Kysely<Tables>({ dialect: new ActingPostgresDialect({ pool }) }),
    session: async work => {
      const client = await pool.connect()
      let failure: Error | undefined
      try {
        return await work(sessionOf(client))
      } catch (error) {
        failure = error as Error
        throw error
      } finally {
        // A session may hold locks: after a failure the connection is dropped rather than handed on.
        client.release(failure)
      }
    },
    ping: timeoutMs =>
      within(timeoutMs, 'the database did not answer in time', pool.query('select 1')).then(() => {}),
    // pg-boss hands its options on to its pool.
    queueConnection: () => ({ connectionString: url, max: QUEUE_POOL_SIZE, Client: PreparingClient }),
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  }
}

function sessionOf(client: pg.PoolClient): Session {
  return {
    query: async (text, values) => (await client.query(text, values)).rows,
    script: async (statements, last) => {
      await client.query('begin')
      try {
        await client.query(statements)
        await client.query(last.text, last.values)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback').catch(() => {})
        throw error
      }
    },
  }
}
