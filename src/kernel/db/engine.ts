// What the rest of the service may ask of a database engine, whichever of the two it is. Everything typed goes
// through `db` (Kysely, statement.ts); the other members are for what Kysely cannot say.
import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { Db as QueueDatabase } from 'pg-boss'
import type { Tables } from './tables.ts'

export interface Query {
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
}

/** A connection of its own whose statements may take as long as they take. */
export interface Session extends Query {
  transaction<T>(work: (tx: SessionTransaction) => Promise<T>): Promise<T>
}

export interface SessionTransaction extends Query {
  /** Several statements in one text. */
  script(statements: string): Promise<void>
}

export interface Engine {
  kind: 'postgres' | 'pglite'
  db: Kysely<Tables>
  session<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Rejects when the database does not answer in time. */
  ping(timeoutMs: number): Promise<void>
  /**
   * Rejects with the reason while the database answers but cannot write. It is asked only after a write has failed: as
   * long as nothing does, this costs nothing.
   */
  checkWrites(timeoutMs: number): Promise<void>
  /** Whether a pooler was found between here and the database. */
  isPooled(): boolean
  /**
   * How the queue reaches the same database: its own pool on PostgreSQL, the one connection on PGlite. `limit` says how
   * long its next statement may take, in milliseconds; 0: as long as it takes.
   */
  queueConnection(limit: () => number): pg.PoolConfig | { db: QueueDatabase }
  /** Connections of the pool, for the metrics; undefined where there is no pool. */
  pool(): { total: number; idle: number; waiting: number } | undefined
  close(): Promise<void>
}
