// What the rest of the service may ask of a database engine, whichever of the two it is. Everything typed goes
// through `db` (Kysely, statement.ts); the other members are for what Kysely cannot say.
import type { Kysely } from 'kysely'
import type { Db as QueueDatabase } from 'pg-boss'
import type { Tables } from './tables.ts'

/** One session, for what needs the same connection throughout. */
export interface Session {
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Several statements at once, in one transaction together with one last statement. */
  script(statements: string, last: { text: string; values: unknown[] }): Promise<void>
}

export interface Engine {
  kind: 'postgres' | 'pglite'
  db: Kysely<Tables>
  session<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Rejects when the database does not answer in time. */
  ping(timeoutMs: number): Promise<void>
  /** How the queue reaches the same database: its own pool on PostgreSQL, the one connection on PGlite. */
  queueConnection(): { connectionString: string; max: number } | { db: QueueDatabase }
  /** Connections of the pool, for the metrics; undefined where there is no pool. */
  pool(): { total: number; idle: number; waiting: number } | undefined
  close(): Promise<void>
}
