// What the rest of the service may ask of a database engine, whichever of the two it is. Everything typed goes
// through `db` (Kysely, statement.ts); the other members are for what Kysely cannot say.
import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { Db as QueueDatabase } from 'pg-boss'
import { cannotWrite, sqlState } from './errors.ts'
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

// How column values reach the code, the same on both engines: dates and times as ISO strings (a JavaScript Date
// would move a DATE by the local offset), bigints as numbers only where no digit is lost, numerics as text.

const OID = { int8: 20, date: 1082, timestamptz: 1184 } as const

function parseBigint(raw: string): number {
  const value = Number(raw)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${raw} does not fit a JavaScript number`)
  return value
}

/** `2026-11-15 01:30:00.5+00` → `2026-11-15T01:30:00.500Z`. Sessions run in UTC and columns are timestamptz(3). */
export function parseTimestamp(raw: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(raw)
  // Other offsets, years past 9999 and infinity: left to Date, which throws on what is no time at all.
  if (!match) return new Date(raw).toISOString()
  return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(3, '0').slice(0, 3)}Z`
}

export const parsers: Record<number, (raw: string) => unknown> = {
  [OID.int8]: parseBigint,
  [OID.date]: raw => raw,
  [OID.timestamptz]: parseTimestamp,
}

// Whether the database takes writes. A full disk or a standby still answers every read, so that asking for a sign of
// life says nothing about it: what is remembered is that a statement could not write, until a write works again.

/** So long after such a failure it is told without trying. */
const REMEMBERED_MS = 3_000

/** Needs new pages on the disk and a place in the log, and leaves nothing behind. */
const TRIAL =
  'create temp table cloudops_write_trial on commit drop as select n from generate_series(1, 5000) as n'

export interface WriteWatch {
  /** Told of every error of the database. */
  failed(error: unknown): void
  /** Rejects with the error while the database cannot write; asks it only after a write has failed. */
  check(run: (statement: string) => Promise<unknown>): Promise<void>
}

export function watchWrites(): WriteWatch {
  let failure: { error: unknown; at: number } | undefined
  const failed = (error: unknown) => {
    if (cannotWrite(error)) failure = { error, at: performance.now() }
  }
  return {
    failed,
    async check(run) {
      if (!failure) return
      if (performance.now() - failure.at < REMEMBERED_MS) throw failure.error
      try {
        await run(TRIAL)
      } catch (error) {
        failed(error)
        // A trial that is refused for another reason says nothing about the disk.
        if (cannotWrite(error) || sqlState(error) === undefined) throw error
      }
      failure = undefined
    },
  }
}
