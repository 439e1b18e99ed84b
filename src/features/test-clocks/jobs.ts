// Moving a test clock on: a job that goes from stop to stop, each in a transaction of its own. Whoever is killed in between has lost
// nothing: the next one goes on from where the clock stands.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { handle, type JobHandler, type JobRun, type JobType } from '../../kernel/queue/queues.ts'
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
  for (let moving = true; moving && !run.signal.aborted; ) {
    const clock = await closeDueMonths(deps, id, run)
    if (!clock || run.signal.aborted) return
    const daily = await hasBudgets(deps.db, clock.tenant_id)
    if (daily) await lookAtBudgets(deps, run, { tenantId: clock.tenant_id })
    moving = await transaction(deps.db, tx => moveToNextStop(tx, id, daily))
  }
}

/** What the clock's time makes due. The clock as it is then; undefined: there is none. */
async function closeDueMonths(
  { db, tenantTime: time }: Pick<Deps, 'db' | 'tenantTime'>,
  id: string,
  run: Pick<JobRun, 'signal' | 'log'>,
): Promise<TestClockRow | undefined> {
  const clock = await transaction(db, tx => lockClock(tx, id))
  if (!clock) return undefined
  const now = new Date(clock.now)
  for (const month of await dueMonths(db, clock.tenant_id, clock.closed_until, now)) {
    const markClosed = async (tx: Executor) => {
      await noteClosed(tx, id, month.end_at)
    }
    await closeTenantMonth(db, { time, now, month, clock, markClosed }, run)
    if (run.signal.aborted) return clock
  }
  const { closed_until } = (await transaction(db, tx => lockClock(tx, id))) ?? clock
  if (closed_until !== null) await adjustTenantMonths(db, { time, now, testClock: clock }, closed_until)
  return clock
}

/** False: it has arrived, or is gone. */
async function moveToNextStop(tx: Executor, id: string, daily: boolean): Promise<boolean> {
  const clock = await lockClock(tx, id)
  if (!clock || clock.target === null) return false
  const { tenant_id, now: from, target, closed_until } = clock
  // Another one is still closing what was due before this time: it does not go on without that.
  if ((await dueMonths(tx, tenant_id, closed_until, new Date(from))).length > 0) return true
  if (from < target) {
    const to = nextStop(from, target, daily)
    await meterTenant(tx, tenant_id, { from, to })
    await rollOverTenant(tx, tenant_id, new Date(to))
    await TEST_CLOCKS.update(tx, { id }, { now: to })
    return true
  }
  await TEST_CLOCKS.update(tx, { id }, { target: null })
  return false
}
