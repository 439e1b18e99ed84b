// One connection to PostgreSQL, or to a pooler in front of it, that never waits for ever. Every statement has a limit;
// when the answer does not come, the connection is destroyed and not handed on: the late answer would be taken for the
// next statement's.
import { AsyncLocalStorage } from 'node:async_hooks'
import { connect, type Socket } from 'node:net'
import pg from 'pg'
import { parsers } from './engine.ts'
import { LostConnection, sqlState } from './errors.ts'
import { BEGIN, COMMIT, JoinedQuery, type Messages, NamedQuery } from './joined-query.ts'
import { isLast, preparedName } from './statement.ts'

/**
 * Whether connections share sessions with others. Behind a pooler in transaction mode each transaction may meet another
 * session: nothing may be left in one, neither settings nor prepared statements nor locks. `auto` looks.
 */
export type Pooler = 'auto' | 'none' | 'transaction'

export interface ConnectionOptions extends pg.PoolConfig {
  pooler: Pooler
  /** How long the next statement may take, in milliseconds. */
  limit: () => number
  /** How long plans of named statements are kept; ten seconds unless a test says otherwise. */
  plansLastMs?: number
  /** Told of every statement that failed. */
  onError?: (error: Error) => void
  /** Told when it must not be used again. */
  onUnfit?: (error: Error) => void
  /** Told when a pooler was found. */
  onPooled?: () => void
}

const CONNECT_TIMEOUT_MS = 3_000
const FREE_WITHIN_MS = 5_000

/** How long a connection may take to show that it is alive. */
const ALIVE_WITHIN_MS = 2_000

/** A silent connection is asked for a sign of life by the system after this long. */
const KEEP_ALIVE_MS = 10_000

/** Behind a pooler the server cannot be asked whether it still works on a statement (postgres.ts). */
const POOLED_LIMIT_MS = 60_000

/** A transaction that nobody goes on with ends, and with it its locks: its client may be gone without a word. */
const IDLE_IN_TRANSACTION_MS = 20_000

/**
 * PostgreSQL keeps a named statement's plan until the next ANALYZE. One made while a table was small reads all of it, and
 * would go on doing so after it has grown.
 */
export const PLANS_LAST_MS = 10_000

/** The session went to a standby, or its server became one: another connection may find the primary. */
const WRONG_SERVER = '25006'

/** What every connection of the service has in common. */
export const connectionOptions = (url: string): pg.PoolConfig => ({
  connectionString: url,
  // To the pool this is how long to wait until one is free.
  connectionTimeoutMillis: FREE_WITHIN_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
})

export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => parsers[oid as number] ?? pg.types.getTypeParser(oid, format),
}

type Callback = (error: Error | undefined, result: pg.QueryResult) => void
type Sendable = pg.QueryConfig | pg.Submittable
type Send = (query: Sendable, callback: Callback) => void

/** What node-postgres does not declare. */
interface Internals {
  connection: Messages & { stream: Socket }
  processID: number | null
  secretKey: number | null
}

/** What is sent with the next statement: a transaction's begin, and a statement that is most likely its last. */
interface Waiting {
  begin: boolean
  last: pg.QueryConfig | undefined
}

/** The server is asked for nothing. */
const unasked = (command: string): Promise<Pick<pg.QueryResult, 'command' | 'rows' | 'rowCount'>> =>
  Promise.resolve({ command, rows: [], rowCount: null })

export class Connection extends pg.Client {
  /** Whether a pooler is in between. */
  pooled: boolean
  /** Why it must not be used again. */
  unfit: Error | undefined
  /** When the statement in flight was sent, and when the last one was answered, by `performance.now()`. */
  busySince: number | undefined
  answeredAt = 0
  #options: ConnectionOptions
  #serverLimitMs = 0
  #plannedAt = performance.now()
  #waiting: Waiting = { begin: false, last: undefined }

  constructor(options: ConnectionOptions) {
    super({ ...options, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    this.#options = options
    this.pooled = options.pooler === 'transaction'
  }

  get backend(): number | null {
    return (this as unknown as Internals).processID
  }

  /** A pooler keeps the time zone for each of its clients; any other setting in the first packet it may refuse. */
  getStartupConf(): Record<string, string> {
    const usual = Reflect.get(pg.Client.prototype, 'getStartupConf') as () => Record<string, string>
    return { ...usual.call(this), TimeZone: 'UTC' }
  }

  /**
   * What a new session needs, in one statement that does nothing where it is not ours alone: a pooler tells its clients
   * another process number than the server's.
   */
  async settle(): Promise<void> {
    const { pooler, limit } = this.#options
    if (pooler === 'transaction') return
    const limitMs = serverLimit(limit())
    const settings = Object.entries(sessionSettings(limitMs)).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    )
    const ours = pooler === 'none' ? 'true' : `pg_backend_pid() = ${this.backend ?? 0}`
    const { rows } = await this.#send(
      { text: `select ${settings.join(', ')} where ${ours}` },
      CONNECT_TIMEOUT_MS,
    )
    this.pooled = rows.length === 0
    if (this.pooled) this.#options.onPooled?.()
    this.#serverLimitMs = limitMs
  }

  /** Rejects, and is destroyed, when it does not answer soon. */
  async proveAlive(): Promise<void> {
    await this.#send({ text: 'select 1' }, ALIVE_WITHIN_MS)
  }

  /** A session that is shared has none. */
  hasOldPlans(): boolean {
    const age = performance.now() - this.#plannedAt
    return !this.pooled && age >= (this.#options.plansLastMs ?? PLANS_LAST_MS)
  }

  /** Forgets its plans. Between transactions. */
  async renewPlans(): Promise<void> {
    this.#plannedAt = performance.now()
    await this.#send({ text: 'discard plans' }, this.#limit())
  }

  /** Ends it at once, whatever is under way on it. */
  destroy(error: Error): void {
    this.#condemn(error)
    ;(this as unknown as Internals).connection.stream.destroy(error)
  }

  #condemn(error: Error): void {
    if (this.unfit) return
    this.unfit = error
    this.#options.onUnfit?.(error)
  }

  override query = ((given: unknown, values?: unknown, callback?: Callback) => {
    const config: pg.QueryConfig =
      typeof given === 'string'
        ? { text: given, values: values as unknown[] }
        : { ...(given as pg.QueryConfig) }
    const limitMs = this.#limit()
    this.#prepare(config, limitMs)
    const answer = typeof values === 'function' ? (values as Callback) : callback
    return answer || this.pooled ? this.#send(config, limitMs, answer) : this.#gather(config, limitMs)
  }) as pg.Client['query']

  /** A transaction begins with its first statement, and ends with its last one where that is known to be the last. */
  #gather(config: pg.QueryConfig, limitMs: number): Promise<unknown> {
    const { text } = config
    if (text === BEGIN.text) return this.#begin(limitMs)
    if (text === COMMIT.text) return this.#commit(limitMs)
    if (text === 'rollback')
      return this.#takeWaiting().begin ? unasked('ROLLBACK') : this.#send(config, limitMs)
    const inTransaction = this.#waiting.begin || this.getTransactionStatus() === 'T'
    return this.#go(config, limitMs, inTransaction && isLast(text))
  }

  #begin(limitMs: number): Promise<unknown> {
    if (!this.#canJoin(BEGIN)) return this.#send(BEGIN, limitMs)
    this.#waiting.begin = true
    return unasked('BEGIN')
  }

  async #commit(limitMs: number): Promise<unknown> {
    const { begin, last } = this.#takeWaiting()
    if (!last) return begin ? unasked('COMMIT') : this.#send(COMMIT, limitMs)
    if (this.#canJoin(COMMIT)) return this.#send(new JoinedQuery(last, { begin, commit: true }), limitMs)
    await this.#sendFirst(begin, last, limitMs)
    return this.#send(COMMIT, limitMs)
  }

  async #go(config: pg.QueryConfig, limitMs: number, waits: boolean): Promise<unknown> {
    const { begin, last } = this.#takeWaiting()
    // It was not the last after all.
    if (last) await this.#sendFirst(begin, last, limitMs)
    const begins = begin && !last
    if (!waits) return this.#sendFirst(begins, config, limitMs)
    this.#waiting = { begin: begins, last: config }
    return unasked('')
  }

  async #sendFirst(begin: boolean, config: pg.QueryConfig, limitMs: number): Promise<unknown> {
    if (!begin) return this.#send(new NamedQuery(config), limitMs)
    if (config.name || config.values?.length)
      return this.#send(new JoinedQuery(config, { begin, commit: false }), limitMs)
    // It may be several statements, which cannot be sent with another.
    await this.#send(BEGIN, limitMs)
    return this.#send(config, limitMs)
  }

  #takeWaiting(): Waiting {
    const waiting = this.#waiting
    this.#waiting = { begin: false, last: undefined }
    return waiting
  }

  #canJoin({ name }: typeof BEGIN): boolean {
    return (this as unknown as Internals).connection.parsedStatements[name] !== undefined
  }

  #limit(): number {
    const limitMs = this.#options.limit()
    return this.pooled ? Math.min(limitMs, POOLED_LIMIT_MS) : limitMs
  }

  #prepare(config: pg.QueryConfig, limitMs: number): void {
    const limit = serverLimit(limitMs)
    if (this.pooled) {
      config.name = undefined
      // Settings last as long as the transaction.
      const local = () =>
        Object.entries({ ...sessionSettings(limit), TimeZone: 'UTC' })
          .map(([name, value]) => `; set local ${name} = '${value}'`)
          .join('')
      config.text = config.text.replace(
        /^\s*(?:begin|start transaction[^;]*)(?=\s*(?:;|$))/i,
        begin => begin + local(),
      )
      return
    }
    config.name ??= preparedName(config.text, config.values)
    // In a transaction the limit is the one it began with: a setting would be undone together with it.
    if (limit === this.#serverLimitMs || /[TE]/.test(this.getTransactionStatus() ?? '')) return
    this.#serverLimitMs = limit
    // If this fails, the statement after it does too.
    this.#send({ text: `set statement_timeout = ${limit}` }, ALIVE_WITHIN_MS).catch(() => {})
  }

  #send(query: Sendable, limitMs: number): Promise<pg.QueryResult>
  #send(query: Sendable, limitMs: number, callback: Callback | undefined): unknown
  #send(query: Sendable, limitMs: number, callback?: Callback): unknown {
    const send = (answer: Callback) => (pg.Client.prototype.query as Send).call(this, query, answer)
    const giveUp = limitMs === UNLIMITED ? undefined : setTimeout(() => this.destroy(lost(limitMs)), limitMs)
    // A single statement behind a pooler has no limit of the server's.
    const cancel = giveUp && this.pooled ? setTimeout(() => this.#cancel(), serverLimit(limitMs)) : undefined
    const sentAt = performance.now()
    this.busySince = sentAt
    const done = (error?: Error) => {
      if (this.busySince === sentAt) this.busySince = undefined
      this.answeredAt = performance.now()
      clearTimeout(giveUp)
      clearTimeout(cancel)
      if (!error) return
      if (sqlState(error) === WRONG_SERVER) this.#condemn(error)
      this.#options.onError?.(error)
    }
    if (callback) {
      return send((error, result) => {
        done(error)
        callback(error, result)
      })
    }
    return new Promise((resolve, reject) => {
      send((error, result) => {
        done(error)
        if (error) reject(error)
        else resolve(result)
      })
    })
  }

  /** Asks the server to end the statement, on a connection of its own as the protocol wants it. */
  #cancel(): void {
    const { processID, secretKey } = this as unknown as Internals
    if (processID === null || secretKey === null) return
    const request = Buffer.alloc(16)
    request.writeInt32BE(16, 0)
    request.writeInt32BE(80_877_102, 4)
    request.writeInt32BE(processID, 8)
    request.writeInt32BE(secretKey, 12)
    const { host, port } = this
    const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
    socket.setTimeout(ALIVE_WITHIN_MS, () => socket.destroy())
    // The other side closes it; a pooler forgets the request of a client that has hung up.
    socket.on('error', () => {}).write(request)
  }
}

const lost = (limitMs: number) => new LostConnection(`the database did not answer within ${limitMs / 1000} s`)

/** Compiling a statement takes longer than any of ours should run. */
const sessionSettings = (limitMs: number) => ({
  jit: 'off',
  statement_timeout: String(limitMs),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
})

// How long one statement may take. Requests, sagas and everything else that somebody waits for have the usual limit;
// sweeps, ingests and metering say that they need longer; a migration takes as long as it takes.

/** What is not set aside for longer; DATABASE_STATEMENT_SECONDS changes it. */
export const USUAL_LIMIT_MS = 10_000

/** Work that reads or writes whole tables. */
export const LONG_LIMIT_MS = 600_000

/** No limit at all. */
export const UNLIMITED = 0

/**
 * The server gives up this much before the client does, so that a slow statement is ended where it runs and its
 * connection stays in use; what only the client gives up on is a connection that no longer answers.
 */
const SERVER_MARGIN_MS = 1_000

const storage = new AsyncLocalStorage<number>()

/** Every statement of the work may take `LONG_LIMIT_MS`. */
export const withLongStatements = <T>(work: () => T): T => storage.run(LONG_LIMIT_MS, work)

export const statementLimit = (usualMs: number): number => storage.getStore() ?? usualMs

/** The `statement_timeout` that belongs to a limit; 0 means none to PostgreSQL as well. */
export const serverLimit = (limitMs: number): number =>
  limitMs === UNLIMITED ? 0 : Math.max(limitMs - SERVER_MARGIN_MS, limitMs / 2)
