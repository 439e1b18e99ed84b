// Adjusts closed months of which usage events came in late: what such a month comes to now, less what its statements have told,
// is a further statement. Settled and written in one transaction, so that whoever is stopped has done it once or not at all.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { type LateMonth, listLateMonths, settleLateMonths } from '../usage-events/index.ts'
import { differences } from './adjustment.ts'
import { type Draft, drawUp } from './draw-up.ts'
import { type Month, monthAt } from './period.ts'
import { readFacts } from './read-usage.ts'
import { statementLines } from './statement-lines.ts'
import { closedUntil, insertStatements, lastOrdinal, listTold, lockClosing } from './statement-store.ts'
import { currencyOf } from './usage.ts'

const BATCH = 500

/** How many statements this run has written. */
export async function adjustMonths(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  batchSize = BATCH,
): Promise<number> {
  let written = 0
  for (let after: LateMonth | undefined; !signal.aborted; ) {
    const batch = await adjustBatch(db, clock.now(), after, batchSize)
    if (batch === undefined) break
    written += batch.written
    // Not from the beginning: what comes in again meanwhile is the next run's.
    after = batch.last
  }
  if (written > 0) log.info({ statements: written }, 'closed months adjusted')
  return written
}

/** Undefined: there is nothing left to adjust. */
const adjustBatch = (db: Executor, now: Date, after: LateMonth | undefined, limit: number) =>
  transaction(db, async tx => {
    await lockClosing(tx)
    const open = (await closedUntil(tx))?.slice(0, 10) ?? ''
    // In the order of months: behind the first that is open all are, and closing them counts what they have.
    const late = (await listLateMonths(tx, limit, after)).filter(({ month }) => month < open)
    if (late.length === 0) return undefined
    // First, so that an event that comes in from now on asks for a further adjustment.
    await settleLateMonths(tx, late)
    let written = 0
    for (const [first_day, months] of Map.groupBy(late, ({ month }) => month)) {
      const ids = months.map(({ deployment_id }) => deployment_id)
      written += await adjust(tx, monthAt(first_day, now), now, ids)
    }
    return { written, last: late.at(-1)! }
  })

async function adjust(tx: Executor, month: Month, now: Date, ids: string[]): Promise<number> {
  const { facts } = await readFacts(tx, now, month, ids, { forecast: false })
  const drafts = (await listTold(tx, month, ids)).map((subscription): Draft => {
    const own = facts.get(subscription.deployment_id)!
    const { told } = subscription
    const lines = differences(
      statementLines(own),
      told.flatMap(statement => statement.lines),
    )
    return { subscription, currency: currencyOf(own), lines, told }
  })
  // An event may change nothing: a seat less than the month's most.
  const changed = drafts.filter(({ lines }) => lines.length > 0)
  if (changed.length === 0) return 0
  const numbered = await lastOrdinal(tx, month)
  await insertStatements(
    tx,
    changed.map((draft, index) => drawUp(month, now, numbered + index + 1, draft)),
  )
  return changed.length
}
