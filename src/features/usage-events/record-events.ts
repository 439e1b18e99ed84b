// Takes in a batch of usage events: those that can be read count, once each; the others are named with the reason.
import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { monthOf } from '../../kernel/time.ts'
import { findMeters } from '../catalog/index.ts'
import { findNamed } from '../deployments/index.ts'
import {
  type CloudEvent,
  type Ingested,
  idOf,
  type Known,
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
  const { counted, refused } = judged(events, {
    now,
    meters: new Map(meters.map(meter => [meter.code, meter])),
    deployments: new Map(deployments.map(deployment => [deployment.id, deployment])),
  })
  const made = await transaction(db, async tx => {
    const inserted = await insertEvents(tx, counted, now.toISOString(), monthOf(now).start_at)
    // What was known before is no write.
    if (inserted > 0)
      await recordRequest(tx, {
        subjectType: 'usage_events',
        subjectId: subjectIn(counted),
        tenantId: tenantIn(counted),
        details: { new: inserted },
      })
    return inserted
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

/** The deployment that all of them are of; several are told by their number. */
function subjectIn(events: readonly UsageEvent[]): string {
  const ids = new Set(events.map(({ deployment_id }) => deployment_id))
  return ids.size === 1 ? events[0]!.deployment_id : `${ids.size} deployments`
}

const tenantIn = (events: readonly UsageEvent[]): string | null => {
  const tenants = new Set(events.map(({ tenant_id }) => tenant_id))
  return tenants.size === 1 ? events[0]!.tenant_id : null
}
