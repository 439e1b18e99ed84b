// Closes months: every subscription gets its statement, a batch in a transaction. Whoever is stopped in between has lost nothing:
// the next run goes on with those that have none. Closers take turns, and numbers have no gap.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
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
} from './statement-store.ts'
import { lastHour } from './store.ts'
import { currencyOf } from './usage.ts'

const BATCH = 500

/** How many statements this run has written. */
export async function closeMonths(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  batchSize = BATCH,
): Promise<number> {
  const [last, open] = [await lastHour(db), await firstOpen(db)]
  if (last === null || open === null) return 0
  let written = 0
  for (const month of monthsToClose(open, endOfHour(last), clock.now())) {
    const before = written
    for (let after: string | null | undefined = null; after !== undefined && !signal.aborted; ) {
      const batch = await closeBatch(db, month, clock.now(), after, batchSize)
      written += batch.written
      after = batch.after
    }
    if (signal.aborted) break
    log.info({ period: month.period, statements: written - before }, 'month closed')
  }
  return written
}

interface Closed {
  written: number
  /** Behind which subscription to go on; undefined: the month is closed. */
  after: string | null | undefined
}

const closeBatch = (
  db: Executor,
  month: Month,
  now: Date,
  after: string | null,
  limit: number,
): Promise<Closed> =>
  transaction(db, async tx => {
    await lockClosing(tx)
    const unclosed = await listUnclosed(tx, month, after, limit)
    if (unclosed.length > 0) {
      await insertStatements(tx, await statementsOf(tx, month, now, unclosed))
      return { written: unclosed.length, after: unclosed.at(-1)!.subscription_id }
    }
    // Nothing behind the last one: a look from the beginning, and the month is closed, under one lock.
    if (after !== null) return { written: 0, after: null }
    await markClosed(tx, month, now.toISOString())
    return { written: 0, after: undefined }
  })

async function statementsOf(
  tx: Executor,
  month: Month,
  now: Date,
  unclosed: readonly Billed[],
): Promise<NewStatement[]> {
  const ids = unclosed.map(({ deployment_id }) => deployment_id)
  // First, so that an event that comes in from now on asks for an adjustment.
  await settleLateMonths(
    tx,
    ids.map(deployment_id => ({ deployment_id, month: month.first_day })),
  )
  const { facts } = await readFacts(tx, now, month, ids, { forecast: false })
  const numbered = await lastOrdinal(tx, month)
  return unclosed.map((subscription, index) => {
    const own = facts.get(subscription.deployment_id)!
    const draft = { subscription, currency: currencyOf(own), lines: statementLines(own), told: [] }
    return drawUp(month, now, numbered + index + 1, draft)
  })
}
