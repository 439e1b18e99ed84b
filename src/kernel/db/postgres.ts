// PostgreSQL through node-postgres.
import { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { within } from '../deadline.ts'
import { ActingPostgresDialect } from './acting-dialect.ts'
import { Connection, type ConnectionOptions, connectionOptions, type Pooler, types } from './connection.ts'
import { ConnectionPool, poolOptions } from './connection-pool.ts'
import type { Engine, Session, SessionTransaction } from './engine.ts'
import { statementLimit, UNLIMITED, USUAL_LIMIT_MS } from './statement-limit.ts'
import type { Tables } from './tables.ts'
import { watchWrites } from './write-watch.ts'

const QUEUE_POOL_SIZE = 4

export interface PostgresOptions {
  url: string
  poolSize: number
  log: Logger
  pooler?: Pooler
  /** How long a statement may take that is not set aside for longer. */
  statementMs?: number
  plansLastMs?: number
}

export function openPostgres(options: PostgresOptions): Engine {
  const { url, poolSize, log, pooler = 'auto', statementMs = USUAL_LIMIT_MS, plansLastMs } = options
  const writes = watchWrites()
  let pooled = pooler === 'transaction'
  const onPooled = () => {
    pooled = true
  }
  const common = { ...connectionOptions(url), pooler, plansLastMs, onError: writes.failed, onPooled }
  const service = { ...common, types, application_name: 'cloudops' }
  const pool = new ConnectionPool(
    { ...service, max: poolSize, limit: () => statementLimit(statementMs) },
    log,
  )
  const inTime = (timeoutMs: number, text: string): Promise<unknown> =>
    within(timeoutMs, 'the database did not answer in time', pool.query({ text }))

  return {
    kind: 'postgres',
    db: new Kysely<Tables>({ dialect: new ActingPostgresDialect({ pool }) }),
    session: work => withSession({ ...service, limit: () => UNLIMITED }, work),
    ping: async timeoutMs => void (await inTime(timeoutMs, 'select 1')),
    checkWrites: timeoutMs => writes.check(statement => inTime(timeoutMs, statement)),
    isPooled: () => pooled,
    // pg-boss hands its options on to its pool. It reads column values its own way.
    queueConnection: limit => poolOptions({ ...common, max: QUEUE_POOL_SIZE, limit }),
    pool: () => pool.counts(),
    close: () => pool.end(),
  }
}

async function withSession<T>(
  options: ConnectionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const connection = new Connection(options)
  // What breaks the connection also rejects the statement under way.
  connection.on('error', () => {})
  await connection.connect()
  try {
    await connection.settle()
    const query: Session['query'] = async (text, values) => (await connection.query(text, values)).rows
    return await work({ query, transaction: inside => inTransaction(connection, query, inside) })
  } finally {
    await connection.end().catch(() => {})
  }
}

async function inTransaction<T>(
  connection: Connection,
  query: Session['query'],
  work: (tx: SessionTransaction) => Promise<T>,
): Promise<T> {
  // The role may have limits of its own.
  await connection.query(
    'begin; set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0',
  )
  try {
    const result = await work({
      query,
      script: async statements => void (await connection.query(statements)),
    })
    await connection.query('commit')
    return result
  } catch (error) {
    await connection.query('rollback').catch(() => {})
    throw error
  }
}
