// Adjusts closed months of which usage events came in late: what such a month comes to now, less what its statements have told,
// is a further statement. Settled and written in one transaction, so that whoever is stopped has done it once or not at all.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { type LateMonth, lateMonthsOf, listLateMonths, settleLateMonths } from '../usage-events/index.ts'
import { differences } from './adjustment.ts'
import { type Draft, drawUp } from './draw-up.ts'
import { type Month, monthAt } from './period.ts'
import { readFacts } from './read-usage.ts'
import { statementLines } from './statement-lines.ts'
import {
  closedUntil,
  insertStatements,
  lastOrdinal,
  listTold,
  lockClosing,
  type TestBook,
} from './statement-store.ts'
import { currencyOf } from './usage.ts'

const BATCH = 500

/** How many statements this run has written. */
export async function adjustMonths(
  { db, clock, tenantTime: time }: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  batchSize = BATCH,
): Promise<number> {
  let written = 0
  for (let after: LateMonth | undefined; !signal.aborted; ) {
    const batch = await adjustBatch(db, { time, now: clock.now(), testClock: null }, after, batchSize)
    if (batch === undefined) break
    written += batch.written
    // Not from the beginning: what comes in again meanwhile is the next run's.
    after = batch.last
  }
  if (written > 0) log.info({ statements: written }, 'closed months adjusted')
  return written
}

interface Adjusting {
  time: TenantTime
  now: Date
  /** Whose; null: everybody's but those under a test clock. */
  testClock: TestBook | null
}

/** Undefined: there is nothing left to adjust. */
const adjustBatch = (db: Executor, adjusting: Adjusting, after: LateMonth | undefined, limit: number) =>
  transaction(db, async tx => {
    await lockClosing(tx)
    const open = (await closedUntil(tx))?.slice(0, 10) ?? ''
    // In the order of months: behind the first that is open all are, and closing them counts what they have.
    const late = (await listLateMonths(tx, limit, after)).filter(({ month }) => month < open)
    if (late.length === 0) return undefined
    const apart = await adjusting.time.apart(
      tx,
      late.map(({ deployment_id }) => deployment_id),
    )
    const own = late.filter(({ deployment_id }) => !apart.has(deployment_id))
    return { written: await adjustLate(tx, adjusting, own), last: late.at(-1)! }
  })

/** Of a tenant under a test clock, what is closed by that; how many statements. */
export const adjustTenant = (
  db: Executor,
  adjusting: Adjusting & { testClock: TestBook },
  deploymentIds: readonly string[],
  closedUntil: string,
): Promise<number> =>
  transaction(db, async tx => {
    await lockClosing(tx)
    return adjustLate(tx, adjusting, await lateMonthsOf(tx, deploymentIds, closedUntil.slice(0, 10)))
  })

async function adjustLate(tx: Executor, adjusting: Adjusting, late: readonly LateMonth[]): Promise<number> {
  if (late.length === 0) return 0
  // First, so that an event that comes in from now on asks for a further adjustment.
  await settleLateMonths(tx, late)
  let written = 0
  for (const [first_day, months] of Map.groupBy(late, ({ month }) => month)) {
    const ids = months.map(({ deployment_id }) => deployment_id)
    written += await adjust(tx, adjusting, monthAt(first_day, adjusting.now), ids)
  }
  return written
}

async function adjust(
  tx: Executor,
  { time, now, testClock }: Adjusting,
  month: Month,
  ids: string[],
): Promise<number> {
  const { facts } = await readFacts(tx, now, month, ids, { time, forecast: false })
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
  const numbered = await lastOrdinal(tx, month, testClock)
  await insertStatements(
    tx,
    changed.map((draft, index) => drawUp(month, now, { ordinal: numbered + index + 1, testClock }, draft)),
  )
  return changed.length
}
