// The embedded engine: PGlite, PostgreSQL in this process, with one connection and no lock of its own on its
// folder, so the folder is locked here.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type ParserOptions, PGlite, type Transaction } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import { fromPglite } from 'pg-boss'
import { within } from '../time.ts'
import { type Engine, parsers, type Session, watchWrites } from './engine.ts'
import { lockFolder } from './folder-lock.ts'
import { statementsOf } from './pglite-query.ts'
import { copyPrepared } from './prepared-database.ts'
import type { Tables } from './tables.ts'

export interface PgliteOptions {
  /** Folder of the database; none: in memory. */
  dataDir?: string
  /** Whether a new folder may begin as a copy of the prepared database. */
  prepared?: boolean
  /** A dumped data folder to start from, for tests. */
  dump?: Blob
}

export async function openPglite({ dataDir, prepared, dump }: PgliteOptions): Promise<Engine> {
  const lock = dataDir ? lockFolder(dataDir) : undefined
  let pglite: PGlite
  try {
    if (dataDir && prepared) await copyPrepared(dataDir)
    if (dataDir) mkdirSync(join(dataDir, 'pglite'), { recursive: true, mode: 0o700 })
    pglite = await PGlite.create({ dataDir: dataDir && join(dataDir, 'pglite'), loadDataDir: dump })
    letOthersIn(pglite)
    await pglite.exec("set timezone to 'UTC'")
  } catch (error) {
    lock?.release()
    throw error
  }

  // The queue shares the engine and expects the engine's own reading of values. Ours is the engine's from here on: given with
  // every statement, it would be put together with that of two hundred types each time, a tenth of all that a statement costs.
  const theirs = Object.fromEntries(Object.keys(parsers).map(oid => [oid, pglite.parsers[Number(oid)]!]))
  Object.assign(pglite.parsers, parsers)

  const writes = watchWrites()
  const rowsOf =
    (on: PGlite | Transaction): Session['query'] =>
    async (text, values) =>
      (await on.query<Record<string, unknown>>(text, values as unknown[])).rows
  const inTransaction: Session['transaction'] = work =>
    pglite.transaction(tx =>
      work({ query: rowsOf(tx), script: async statements => void (await tx.exec(statements)) }),
    )
  const inTime = (timeoutMs: number, statement: string): Promise<unknown> =>
    within(timeoutMs, 'the database did not answer in time', pglite.query(statement))

  return {
    kind: 'pglite',
    db: new Kysely<Tables>({
      dialect: new PGliteDialect({ pglite: forKysely(pglite) }),
      log: event => {
        if (event.level === 'error') writes.failed(event.error)
      },
    }),
    session: work => work({ query: rowsOf(pglite), transaction: inside => inTransaction(inside) }),
    ping: async timeoutMs => void (await inTime(timeoutMs, 'select 1')),
    checkWrites: timeoutMs => writes.check(statement => inTime(timeoutMs, statement)),
    isPooled: () => false,
    queueConnection: () => ({ db: fromPglite(readingAs(pglite, theirs)) }),
    pool: () => undefined,
    close: async () => {
      if (!pglite.closed) await pglite.close()
      lock?.release()
    },
  }
}

/** The engine, as one that reads some values in another way. */
const readingAs = (pglite: PGlite, parsers: ParserOptions): Parameters<typeof fromPglite>[0] => ({
  query: (text: string, values?: unknown[]) => pglite.query(text, values, { parsers }),
  exec: (text: string) => pglite.exec(text, { parsers }),
  listen: (channel: string, listener: (payload: string) => void) => pglite.listen(channel, listener),
})

/** Kysely's view of the engine. */
function forKysely(pglite: PGlite): ConstructorParameters<typeof PGliteDialect>[0]['pglite'] & object {
  const run = statementsOf(pglite)
  return {
    query: (text, values) => pglite._runExclusiveTransaction(() => run(text, values)),
    transaction: work =>
      pglite.transaction(tx => {
        // As PGlite's own does: a statement that comes too late must not be taken for one by itself.
        const query: typeof run = async (text, values) => {
          if (tx.closed) throw new Error('the transaction has ended')
          return run(text, values)
        }
        return work({ query, rollback: () => tx.rollback() } as never)
      }),
    close: () => pglite.close(),
    get closed() {
      return pglite.closed
    },
    get ready() {
      return pglite.ready
    },
    get waitReady() {
      return pglite.waitReady
    },
  }
}

/** Statements go on for so long before others are let in. */
const TURN_MS = 10

/**
 * A statement of the embedded engine holds the thread, and the next one follows without a turn of the event loop: at a start,
 * or while a sweep writes, nobody would be answered. So now and then whoever has waited goes first.
 */
function letOthersIn(pglite: PGlite): void {
  const send = pglite.execProtocolRaw.bind(pglite)
  let turnEndsAt = 0
  pglite.execProtocolRaw = async (message, options) => {
    if (performance.now() > turnEndsAt) {
      await setImmediate()
      turnEndsAt = performance.now() + TURN_MS
    }
    return send(message, options)
  }
}
