// Making a test clock, sending it on its way, and taking it away.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, type FieldError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { lockBooks } from '../metering/index.ts'
import { sendAdvance } from './jobs.ts'
import { clockOfTenant, lastTimeOf, lockClock, showClock, TEST_CLOCKS } from './store.ts'
import { targetOf, wholeHour } from './test-clock.ts'

type Needed = Pick<Deps, 'db' | 'clock' | 'jobs'>

export interface NewTestClock {
  tenant_id: string
  now?: string
}

/**
 * As JSON text. A tenant without deployments begins anywhere. One that has been metered goes on from there: what lies between
 * is simulated like any other move.
 */
export function createClock(
  deps: Needed,
  createdBy: string,
  { tenant_id, now: asked }: NewTestClock,
): Promise<{ id: string; json: string }> {
  const { clock } = deps
  const wanted = wholeHour(asked === undefined ? clock.now() : new Date(asked)).toISOString()
  return transaction(deps.db, async tx => {
    // Whoever makes another one waits here.
    const { meteredUntil, closedUntil } = await lockBooks(tx, tenant_id)
    if (await clockOfTenant(tx, tenant_id))
      throw conflict('tenant_has_test_clock', `The tenant ${tenant_id} has a test clock already.`)
    const start = [meteredUntil, await lastTimeOf(tx, tenant_id), meteredUntil === null ? wanted : null]
      .filter(at => at !== null)
      .reduce((a, b) => (a > b ? a : b))
    if (wanted < start)
      throw unacceptable({
        pointer: '/now',
        message: `is before the tenant’s hours that are metered (${start})`,
      })
    const target = wanted > start ? wanted : null
    const row = {
      id: newId(),
      tenant_id,
      started_at: start,
      now: start,
      target,
      closed_until: closedUntil,
      created_by: createdBy,
      created_at: clock.now().toISOString(),
      ended_at: null,
    }
    await TEST_CLOCKS.insert(tx, [row])
    if (target !== null) await sendAdvance(deps, tx, row.id, target)
    return { id: row.id, json: (await showClock(tx, row.id))! }
  })
}

/** As JSON text. Asking again for where it is on its way to sends it on, should its job have been lost. */
export function advanceClock(
  deps: Needed,
  id: string,
  asked: { to?: string; months?: number },
): Promise<string> {
  return transaction(deps.db, async tx => {
    const clock = await lockClock(tx, id)
    if (!clock) throw notFound()
    const found = targetOf(clock, asked)
    if ('fault' in found) throw unacceptable(found.fault)
    const { target } = found
    await TEST_CLOCKS.update(tx, { id }, { target })
    await sendAdvance(deps, tx, id, target)
    return (await showClock(tx, id))!
  })
}

/** The tenant has everybody's time again. */
export function endClock({ db, clock }: Pick<Deps, 'db' | 'clock'>, id: string): Promise<void> {
  return transaction(db, async tx => {
    if (!(await lockClock(tx, id))) throw notFound()
    await TEST_CLOCKS.update(tx, { id }, { target: null, ended_at: clock.now().toISOString() })
  })
}

/** In production there are none: those of a database that was a sandbox's end when it is put to that use. The tenants. */
export async function endAllClocks(db: Executor, now: Date): Promise<string[]> {
  const ended = await TEST_CLOCKS.update(db, query => query.where('ended_at', 'is', null), {
    target: null,
    ended_at: now.toISOString(),
  })
  return ended.map(({ tenant_id }) => tenant_id)
}

const unacceptable = (...errors: FieldError[]) => invalid('The body is not acceptable.', errors)
