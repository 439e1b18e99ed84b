// The service's connections. One that has been idle shows that it is alive before it is handed out, and one that fails
// takes the idle ones with it: what froze or cut it has most likely met them too.
import pg from 'pg'
import type { Logger } from 'pino'
import { Connection, type ConnectionOptions } from './connection.ts'
import { watchForLostAnswers } from './lost-answers.ts'

/** A connection that answered so recently is taken to be alive. */
const FRESH_MS = 2_000

export type PooledConnection = Connection & pg.PoolClient

export class ConnectionPool {
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
    this.#stopWatching = watchForLostAnswers(options, () => this.#all, log)
  }

  async connect(): Promise<PooledConnection> {
    for (;;) {
      const connection = ours(await this.#pool.connect())
      const release = connection.release
      connection.release = error => release(error || connection.unfit)
      if (isFresh(connection) || (await isAlive(connection))) return connection
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
  connection.unfit === undefined &&
  connection.proveAlive().then(
    () => true,
    () => false,
  )

/** The pool makes all its clients with `Client`. */
const ours = (client: pg.ClientBase): PooledConnection => client as PooledConnection

/** A pool of any owner whose connections are ours. */
export const poolOptions = (options: ConnectionOptions): pg.PoolConfig => ({
  ...options,
  Client: Connection as unknown as new () => pg.ClientBase,
  onConnect: client => ours(client).settle(),
})
