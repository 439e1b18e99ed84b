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
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  scope: Scope,
  events: readonly CloudEvent[],
): Promise<Ingested> {
  const now = clock.now()
  const meters = await findMeters(db)
  const deployments = await findNamed(db, scope, subjectsOf(events))
  const { counted, refused } = judged(events, knownAt(now, meters, deployments))
  const made = await insertEvents(db, counted, {
    at: now.toISOString(),
    monthStart: monthOf(now).start_at,
    latest: meters.filter(({ aggregation }) => aggregation === 'last').map(({ code }) => code),
  })
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
