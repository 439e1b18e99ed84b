// How long one statement may take. Requests, sagas and everything else that somebody waits for have the usual limit;
// sweeps, ingests and metering say that they need longer; a migration takes as long as it takes.
import { AsyncLocalStorage } from 'node:async_hooks'

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
