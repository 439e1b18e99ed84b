// PostgreSQL through node-postgres: its pool, and sessions for migrations.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { within } from '../time.ts'
import {
  Connection,
  type ConnectionOptions,
  connectionOptions,
  type Pooler,
  statementLimit,
  types,
  UNLIMITED,
  USUAL_LIMIT_MS,
} from './connection.ts'
import { type Engine, type Session, type SessionTransaction, watchWrites } from './engine.ts'
import { LostConnection } from './errors.ts'
import type { Tables } from './tables.ts'

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
    db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
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

// The service's connections. One that has been idle shows that it is alive before it is handed out, and one that fails
// takes the idle ones with it: what froze or cut it has most likely met them too.

/** A connection that answered so recently is taken to be alive. */
const FRESH_MS = 2_000

type PooledConnection = Connection & pg.PoolClient

class ConnectionPool {
  // Kysely reads both, for statements that are to be ended from another connection.
  readonly options: pg.PoolOptions
  readonly Client = Connection
  #pool: pg.Pool
  #all = new Set<Connection>()
  #idle = new Set<Connection>()
  #stopWatching: () => void

  constructor(options: ConnectionOptions, log: Logger) {
    const onUnfit = (error: Error) => {
      for (const other of [...this.#idle]) other.destroy(error)
    }
    this.#pool = new pg.Pool(poolOptions({ ...options, onUnfit }))
    this.options = this.#pool.options
    // Both are needed: the pool reports errors of idle clients, but a backend that dies while its client is checked
    // out emits on the client alone, and an `error` nobody listens to ends the process.
    this.#pool.on('error', error => log.warn({ err: error }, 'a database connection was lost'))
    this.#pool.on('connect', client => {
      client.on('error', error => log.debug({ err: error }, 'a database client failed'))
      this.#all.add(ours(client))
    })
    this.#pool.on('acquire', client => this.#idle.delete(ours(client)))
    this.#pool.on('release', (_error, client) => this.#idle.add(ours(client)))
    this.#pool.on('remove', client => {
      const connection = ours(client)
      this.#all.delete(connection)
      this.#idle.delete(connection)
    })
    this.#stopWatching = watchForLostResponses(options, () => this.#all, log)
  }

  async connect(): Promise<PooledConnection> {
    for (;;) {
      const connection = ours(await this.#pool.connect())
      const release = connection.release
      connection.release = error => release(error || connection.unfit)
      const alive = isFresh(connection) || (await isAlive(connection))
      // Mostly there is nothing to wait for.
      if (alive && (!connection.hasOldPlans() || (await succeeds(connection.renewPlans())))) return connection
      // The idle ones have gone with it: the next is new, or was in use until now.
      connection.release(true)
    }
  }

  async query<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const connection = await this.connect()
    try {
      return await connection.query<Row>(config)
    } finally {
      connection.release()
    }
  }

  counts(): { total: number; idle: number; waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.#pool
    return { total, idle, waiting }
  }

  end(): Promise<void> {
    this.#stopWatching()
    return this.#pool.end()
  }
}

const isFresh = ({ unfit, answeredAt }: Connection): boolean =>
  unfit === undefined && performance.now() - answeredAt < FRESH_MS

const isAlive = async (connection: Connection): Promise<boolean> =>
  connection.unfit === undefined && succeeds(connection.proveAlive())

const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** The pool makes all its clients with `Client`. */
const ours = (client: pg.ClientBase): PooledConnection => client as PooledConnection

/** A pool of any owner whose connections are ours. */
const poolOptions = (options: ConnectionOptions): pg.PoolConfig => ({
  ...options,
  Client: Connection as unknown as new () => pg.ClientBase,
  onConnect: client => ours(client).settle(),
})

// A statement that may run for minutes cannot be told from one whose connection is dead by waiting. So the server is
// asked, on another connection: where it has nothing under way for a statement that still waits here, the response was
// lost, or the statement never arrived.

const LOOK_EVERY_MS = 4_000

/** Statements younger than this are left alone. */
const LONG_MS = 4_000

/** Returns the way to stop. Behind a pooler nothing is looked for: the server's process number is not known there. */
function watchForLostResponses(
  options: ConnectionOptions,
  connections: () => Iterable<Connection>,
  log: Logger,
): () => void {
  /** What the last look found without a counterpart: the answer may just have been on its way. */
  let suspects = new Map<Connection, number>()
  let looking = false
  const timer = setInterval(async () => {
    const now = performance.now()
    const waiting = [...connections()].flatMap(connection => {
      const { busySince, backend, pooled } = connection
      return busySince !== undefined && now - busySince > LONG_MS && backend !== null && !pooled
        ? [{ connection, busySince, backend }]
        : []
    })
    if (waiting.length === 0) suspects.clear()
    if (waiting.length === 0 || looking) return
    looking = true
    try {
      const working = await workingBackends(
        options,
        waiting.map(({ backend }) => backend),
      )
      const idle = waiting.filter(
        ({ connection, busySince, backend }) => !working.has(backend) && connection.busySince === busySince,
      )
      for (const { connection, busySince } of idle) {
        if (suspects.get(connection) === busySince)
          connection.destroy(new LostConnection('the answer of the database was lost on its way'))
      }
      suspects = new Map(idle.map(({ connection, busySince }) => [connection, busySince]))
    } catch (error) {
      // The next look comes soon, and the statements have their limits.
      log.debug({ err: error }, 'the database could not be asked which statements it works on')
    } finally {
      looking = false
    }
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function workingBackends(options: ConnectionOptions, backends: number[]): Promise<Set<number>> {
  const connection = new Connection({ ...options, limit: () => LOOK_EVERY_MS })
  connection.on('error', () => {})
  await connection.connect()
  try {
    const { rows } = await connection.query<{ pid: number }>(
      "select pid from pg_stat_activity where pid = any($1) and state not like 'idle%'",
      [backends],
    )
    return new Set(rows.map(row => row.pid))
  } finally {
    connection.end().catch(() => {})
  }
}
