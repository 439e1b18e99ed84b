// Whose a resource was when, read back from its events: each change of owner says who had it before.
import type { Schemas } from '../api.ts'

type Owned = Pick<Schemas['Resource'], 'tenant_id' | 'project_id' | 'deployment_id'>

export interface Ownership extends Owned {
  /** null: earlier than the events at hand reach. */
  from: string | null
  /** null: until now. */
  to: string | null
}

const OWNERS = ['tenant_id', 'project_id', 'deployment_id'] as const

/** Newest first, as the events are. `all`: there are no earlier events, so the last stretch began with the resource. */
export function ownersOf(
  now: Owned & { first_seen_at: string },
  events: Pick<Schemas['ResourceEvent'], 'kind' | 'changes' | 'created_at'>[],
  all: boolean,
): Ownership[] {
  const stretches: Ownership[] = []
  let { tenant_id, project_id, deployment_id } = now
  let to: string | null = null
  for (const { kind, changes, created_at } of events) {
    // What drifted from a desired owner has not moved.
    if (kind === 'drift_detected' || !changes || !OWNERS.some(owner => changes[owner])) continue
    stretches.push({ tenant_id, project_id, deployment_id, from: created_at, to })
    to = created_at
    const before = (owner: (typeof OWNERS)[number], after: string | null) =>
      changes[owner] ? (changes[owner].before as string | null) : after
    tenant_id = before('tenant_id', tenant_id)
    project_id = before('project_id', project_id)
    deployment_id = before('deployment_id', deployment_id)
  }
  stretches.push({ tenant_id, project_id, deployment_id, from: all ? now.first_seen_at : null, to })
  // Several changes in one moment leave stretches that never were.
  return stretches.filter(({ from, to }) => from === null || from !== to)
}
