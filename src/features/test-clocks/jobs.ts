// Moving a test clock on: a job that goes from stop to stop, each in a transaction of its own. Whoever is killed in between has lost
// nothing: the next one goes on from where the clock stands.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { handle, type JobHandler, type JobRun, type JobType } from '../../kernel/queue/queues.ts'
import { monthOf } from '../../kernel/time.ts'
import { hasBudgets, lookAtBudgets } from '../budgets/index.ts'
import { adjustTenantMonths, closeTenantMonth, dueMonths, meterTenant } from '../metering/index.ts'
import { rollOverTenant } from '../subscriptions/index.ts'
import { lockClock, noteClosed, TEST_CLOCKS } from './store.ts'
import { nextStop, type TestClockRow } from './test-clock.ts'

const Advance = Type.Object({ clock_id: Type.String() })
export const advanceJob: JobType<typeof Advance> = {
  name: 'advance_test_clock',
  queue: 'metering',
  ownQueue: true,
  payload: Advance,
}

/** One for a target: a job that is just ending does not keep the next target's from being sent. */
export async function sendAdvance(
  { jobs }: Pick<Deps, 'jobs'>,
  tx: Executor,
  id: string,
  target: string,
): Promise<void> {
  await jobs.send(tx, advanceJob, { clock_id: id }, { key: `${id}:${target}` })
}

export const testClockHandlers = (deps: Deps): JobHandler[] => [
  handle(advanceJob, ({ clock_id }, run) => moveClock(deps, clock_id, run)),
]

/** Until it has reached its target, has been taken away, or the process stops. */
export async function moveClock(
  deps: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  id: string,
  run: Pick<JobRun, 'signal' | 'log'>,
): Promise<void> {
  const { db } = deps
  let clock = await transaction(db, tx => lockClock(tx, id))
  if (clock) await adjustLate(deps, clock)
  // Made while it moves, a budget is looked at once by itself and daily from the next move on.
  const daily = clock !== undefined && (await hasBudgets(db, clock.tenant_id))
  while (clock && clock.target !== null && !run.signal.aborted) {
    await closeDueMonths(deps, clock, run)
    if (run.signal.aborted) return
    if (daily) await lookAtBudgets(deps, run, { tenantId: clock.tenant_id })
    clock = await transaction(db, tx => moveToNextStop(tx, id, daily))
  }
}

/** What came in late of months that the clock has closed, while it stood. */
async function adjustLate(
  { db, tenantTime: time }: Pick<Deps, 'db' | 'tenantTime'>,
  clock: TestClockRow,
): Promise<void> {
  const { now, closed_until } = clock
  if (closed_until === null) return
  await adjustTenantMonths(db, { time, now: new Date(now), testClock: clock }, closed_until)
}

/** What the clock's time makes due. */
async function closeDueMonths(
  { db, tenantTime: time }: Pick<Deps, 'db' | 'tenantTime'>,
  clock: TestClockRow,
  run: Pick<JobRun, 'signal' | 'log'>,
): Promise<void> {
  const now = new Date(clock.now)
  for (const month of await dueMonths(db, clock.tenant_id, clock.closed_until, now)) {
    const markClosed = (tx: Executor) => noteClosed(tx, clock.id, month.end_at)
    await closeTenantMonth(db, { time, now, month, clock, markClosed }, run)
    if (run.signal.aborted) return
  }
}

/** The clock as it is then; undefined: it is gone. */
async function moveToNextStop(tx: Executor, id: string, daily: boolean): Promise<TestClockRow | undefined> {
  const clock = await lockClock(tx, id)
  if (!clock || clock.target === null) return clock
  const { tenant_id, now: from, target, closed_until } = clock
  // Another one is still closing what was due before this time: it does not go on without that.
  if ((await dueMonths(tx, tenant_id, closed_until, new Date(from))).length > 0) return clock
  if (from === target) return (await TEST_CLOCKS.update(tx, { id }, { target: null }))[0]
  const to = nextStop(from, target, daily)
  await meterTenant(tx, tenant_id, { from, to })
  if (monthOf(from).period !== monthOf(to).period) await rollOverTenant(tx, tenant_id, new Date(to))
  return (await TEST_CLOCKS.update(tx, { id }, { now: to }))[0]
}
