// A tenant's books under a test clock: the hours that go by are metered with what lives for it now, and months that are over for three
// days are closed. For features/test-clocks, which moves the time.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { firstMadeOf, listBilled } from '../deployments/index.ts'
import { countLiving } from '../inventory/index.ts'
import { adjustTenant } from './adjust-months.ts'
import { type ClosingRun, closeMonth } from './close-months.ts'
import { endOfHour, hourOf, type Month } from './period.ts'
import { monthsToClose } from './statement.ts'
import { closedUntil, firstTermsOf, lockClosing, type TestBook } from './statement-store.ts'
import { insertSimulated, lastHour, lockMetering } from './store.ts'

const BATCH = 500

/** Whole hours that follow one another. */
export async function meterTenant(
  tx: Executor,
  tenantId: string,
  hours: { from: string; to: string },
): Promise<void> {
  for (let last: string | null = null; ; ) {
    const batch = await listBilled(tx, { allTenants: false, tenantId }, {}, BATCH, last)
    const living = await countLiving(
      tx,
      batch.map(({ id }) => id),
    )
    await insertSimulated(tx, hours, living)
    if (batch.length < BATCH) return
    last = batch.at(-1)!.id
  }
}

/** What came in late of months that the clock has closed. */
export async function adjustTenantMonths(
  db: Executor,
  adjusting: { time: TenantTime; now: Date; testClock: TestBook },
  closed: string,
): Promise<void> {
  const scope = { allTenants: false, tenantId: adjusting.testClock.tenant_id } as const
  for (let last: string | null = null; ; ) {
    const batch = await listBilled(db, scope, {}, BATCH, last)
    const ids = batch.map(({ id }) => id)
    await adjustTenant(db, adjusting, ids, closed)
    if (batch.length < BATCH) return
    last = ids.at(-1)!
  }
}

/** The months that the tenant's time makes due. */
export async function dueMonths(
  executor: Executor,
  tenantId: string,
  closedUntil: string | null,
  now: Date,
): Promise<Month[]> {
  const open = closedUntil ?? (await firstTermsOf(executor, tenantId))
  return open === null ? [] : monthsToClose(open, now.toISOString(), now)
}

export const closeTenantMonth = (
  db: Executor,
  {
    time,
    now,
    month,
    clock,
    markClosed,
  }: {
    time: TenantTime
    now: Date
    month: Month
    clock: TestBook
    markClosed: (tx: Executor) => Promise<void>
  },
  run: ClosingRun,
): Promise<number> =>
  closeMonth(db, { time, now: () => now, month, book: { testClock: clock, markClosed } }, run)

/** Where a tenant's books stand, and nobody moves them on until the transaction ends. */
export async function lockBooks(
  tx: Executor,
  tenantId: string,
): Promise<{ meteredUntil: string | null; closedUntil: string | null }> {
  await lockMetering(tx)
  await lockClosing(tx)
  const made = await firstMadeOf(tx, tenantId)
  if (made === null) return { meteredUntil: null, closedUntil: null }
  const last = await lastHour(tx)
  return {
    meteredUntil: last === null || endOfHour(last) < made ? hourOf(made) : endOfHour(last),
    closedUntil: await closedUntil(tx),
  }
}
