// One transaction for one use case. A deadlock or a serialization failure means that nothing was done, so it is
// tried again; everything the callback does must therefore go through the executor it is handed. Work that needs nothing
// but the database also waits while the database is away.
import type { Logger } from 'pino'
import { retry, systemTimer } from '../retry.ts'
import { isDatabaseAway, sqlState } from './errors.ts'
import type { Executor } from './tables.ts'

const ATTEMPTS = 3
const TRY_AGAIN = new Set(['40001', '40P01'])

interface Around {
  beforeCommit: (() => Promise<unknown>)[]
  afterCommit: (() => void | Promise<void>)[]
}

/** What is to be done around the commit of a transaction, by its executor. */
const transactions = new WeakMap<Executor, Around>()

/**
 * On an executor that is a transaction already the work joins it: what it does is committed or undone with the rest. A
 * statement that fails there fails the whole, so whoever catches a violation may only throw.
 */
export async function transaction<T>(db: Executor, work: (tx: Executor) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db)
  const { result, around } = await untilDone(db, () =>
    db.transaction().execute(async tx => {
      const around: Around = { beforeCommit: [], afterCommit: [] }
      transactions.set(tx, around)
      const result = await work(tx)
      for (const step of around.beforeCommit) await step()
      return { result, around }
    }),
  )
  for (const effect of around.afterCommit) await effect()
  return result
}

/** For what is written once for the whole transaction, at its end and as a part of it. */
export function beforeCommit(tx: Executor, step: () => Promise<unknown>): void {
  const around = transactions.get(tx)
  if (!around) throw new Error('this must be done inside of transaction()')
  around.beforeCommit.push(step)
}

/** The same retries for a statement that is a transaction by itself. Inside one, the whole is tried again or nothing. */
export async function untilDone<T>(executor: Executor, work: () => Promise<T>): Promise<T> {
  if (executor.isTransaction) return work()
  return retry(work, {
    pauseAfter: (error, tried) => (tried < ATTEMPTS && TRY_AGAIN.has(sqlState(error) ?? '') ? 0 : null),
  })
}

/**
 * For what must not be done before the rows are there for others to see, such as waking this process: at
 * once on the database, after the commit in a transaction. An effect must not fail: what was asked for is done.
 */
export async function afterCommit(executor: Executor, effect: () => void | Promise<void>): Promise<void> {
  const around = transactions.get(executor)
  if (around) around.afterCommit.push(effect)
  else await effect()
}

export interface Waiting {
  /** Ends the waiting; the database's last error is thrown then. */
  signal: AbortSignal
  log: Logger
  /** What waits, for the log. */
  what: string
  /** Called when the waiting begins. */
  onWait?: () => void
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Tries again as long as the database does not respond. A connection that broke says nothing about what was sent over it:
 * the work is told that it is not the first attempt, and must be safe to do twice or look for what it did.
 */
export async function waitForDatabase<T>(
  work: (again: boolean) => Promise<T>,
  { signal, log, what, onWait }: Waiting,
): Promise<T> {
  let last: unknown
  return retry(() => work(last !== undefined), {
    pauseAfter(error, tried) {
      if (!isDatabaseAway(error) || signal.aborted) return null
      last = error
      onWait?.()
      // The first time at once: most often a single connection broke.
      const pauseMs = tried === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tried - 2))
      log.warn({ err: error, retry_in_ms: pauseMs }, `${what} waits for the database`)
      return pauseMs
    },
    sleep: ms =>
      systemTimer.sleep(ms, signal).catch(() => {
        throw last
      }),
  })
}
