// Closes months: every subscription gets its statement, a batch in a transaction. Whoever is stopped in between has lost nothing:
// the next run goes on with those that have none. Closers take turns, and numbers have no gap.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { settleLateMonths } from '../usage-events/index.ts'
import { drawUp } from './draw-up.ts'
import { endOfHour, type Month } from './period.ts'
import { readFacts } from './read-usage.ts'
import { monthsToClose } from './statement.ts'
import { statementLines } from './statement-lines.ts'
import {
  type Billed,
  firstOpen,
  insertStatements,
  lastOrdinal,
  listUnclosed,
  lockClosing,
  markClosed,
  type NewStatement,
  type TestBook,
} from './statement-store.ts'
import { lastHour } from './store.ts'
import { currencyOf } from './usage.ts'

const BATCH = 500

/** How many statements this run has written. */
export async function closeMonths(
  { db, clock, tenantTime: time }: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  run: ClosingRun,
  batchSize = BATCH,
): Promise<number> {
  const [last, open] = [await lastHour(db), await firstOpen(db)]
  if (last === null || open === null) return 0
  let written = 0
  for (const month of monthsToClose(open, endOfHour(last), clock.now())) {
    const now = () => clock.now()
    const book = { testClock: null, markClosed: (tx: Executor) => markClosed(tx, month, now().toISOString()) }
    written += await closeMonth(db, { time, now, month, book }, run, batchSize)
    if (run.signal.aborted) break
  }
  return written
}

export interface ClosingRun {
  signal: AbortSignal
  log: Logger
}

export interface Closing {
  time: TenantTime
  now: () => Date
  month: Month
  book: {
    /** The tenant whose month it is by its test clock; null: everybody's but theirs. */
    testClock: TestBook | null
    /** Notes, in the transaction that found nothing left, that the month is closed. */
    markClosed: (tx: Executor) => Promise<void>
  }
}

/** How many statements this has written; the month is closed unless it was aborted. */
export async function closeMonth(
  db: Executor,
  closing: Closing,
  { signal, log }: ClosingRun,
  batchSize = BATCH,
): Promise<number> {
  let written = 0
  for (let after: string | null | undefined = null; after !== undefined && !signal.aborted; ) {
    const batch = await closeBatch(db, closing, after, batchSize)
    written += batch.written
    after = batch.after
  }
  const { month, book } = closing
  const tenant_id = book.testClock?.tenant_id
  if (!signal.aborted) log.info({ period: month.period, statements: written, tenant_id }, 'month closed')
  return written
}

interface Closed {
  written: number
  /** Behind which subscription to go on; undefined: the month is closed. */
  after: string | null | undefined
}

const closeBatch = (db: Executor, closing: Closing, after: string | null, limit: number): Promise<Closed> =>
  transaction(db, async tx => {
    const { month, book } = closing
    await lockClosing(tx)
    const unclosed = await listUnclosed(tx, month, book.testClock, after, limit)
    if (unclosed.length > 0) {
      await insertStatements(tx, await statementsOf(tx, closing, unclosed))
      return { written: unclosed.length, after: unclosed.at(-1)!.subscription_id }
    }
    // Nothing behind the last one: a look from the beginning, and the month is closed, under one lock.
    if (after !== null) return { written: 0, after: null }
    await book.markClosed(tx)
    return { written: 0, after: undefined }
  })

async function statementsOf(
  tx: Executor,
  { time, now: present, month, book: { testClock } }: Closing,
  unclosed: readonly Billed[],
): Promise<NewStatement[]> {
  const now = present()
  const ids = unclosed.map(({ deployment_id }) => deployment_id)
  // First, so that an event that comes in from now on asks for an adjustment.
  await settleLateMonths(
    tx,
    ids.map(deployment_id => ({ deployment_id, month: month.first_day })),
  )
  const { facts } = await readFacts(tx, now, month, ids, { time, forecast: false })
  const numbered = await lastOrdinal(tx, month, testClock)
  return unclosed.map((subscription, index) => {
    const own = facts.get(subscription.deployment_id)!
    const draft = { subscription, currency: currencyOf(own), lines: statementLines(own), told: [] }
    return drawUp(month, now, { ordinal: numbered + index + 1, testClock }, draft)
  })
}
