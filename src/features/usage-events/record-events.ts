// Takes in a batch of usage events: those that can be read count, once each; the others are named with the reason.
import type { Deps } from '../../deps.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { monthOf } from '../../kernel/time.ts'
import { findMeters } from '../catalog/index.ts'
import { findNamed } from '../deployments/index.ts'
import {
  type CloudEvent,
  type Ingested,
  idOf,
  type Known,
  knownAt,
  REFUSALS,
  readEvent,
  subjectsOf,
  type UsageEvent,
} from './cloud-event.ts'
import { insertEvents } from './store.ts'

export async function recordEvents(
  { db, clock, tenantTime }: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  scope: Scope,
  events: readonly CloudEvent[],
): Promise<Ingested> {
  const now = clock.now()
  const meters = await findMeters(db)
  const deployments = await findNamed(db, scope, subjectsOf(events))
  const apart = await tenantTime.apart(
    db,
    deployments.map(({ id }) => id),
  )
  const { counted, refused } = judged(events, knownAt(now, meters, deployments, apart))
  const latest = meters.filter(({ aggregation }) => aggregation === 'last').map(({ code }) => code)
  // What is late is so by the tenant's month; one statement, but for a batch of tenants in different months.
  const months = Map.groupBy(counted, event => monthOf(apart.get(event.deployment_id) ?? now).start_at)
  let made = 0
  for (const [monthStart, own] of months)
    made += await insertEvents(db, own, { at: now.toISOString(), monthStart, latest })
  return { new: made, known: counted.length - made, refused }
}

/** Pure. */
export function judged(events: readonly CloudEvent[], known: Known) {
  const counted: UsageEvent[] = []
  const refused: Ingested['refused'] = []
  for (const [index, event] of events.entries()) {
    const read = readEvent(event, known)
    if (typeof read === 'string')
      refused.push({ index, id: idOf(event), code: read, message: REFUSALS[read] })
    else counted.push(read)
  }
  return { counted, refused }
}
