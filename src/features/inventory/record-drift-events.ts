// Events of drift: the inventory alone writes the log of its resources, the drift sweep says what to write.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { publishResourceEvents } from './publish-resource-events.ts'

/** A field that is not as desired. Both values are JSON texts. */
export interface DriftSeen {
  resource_id: string
  /** Whose the resource was when it was seen. */
  tenant_id: string | null
  field: string
  desired: string
  actual: string
}

/** One `drift_detected` for each: before is what was desired, after what is. */
export async function recordDriftEvents(
  tx: Executor,
  { at, actor }: { at: string; actor: string },
  drift: DriftSeen[],
): Promise<void> {
  if (drift.length === 0) return
  const { rows } = await sql<{ event_id: string }>`
    insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
    select uuid_v7(), resource_id, tenant_id, 'drift_detected',
      jsonb_build_object(field, jsonb_build_object('before', desired::jsonb, 'after', actual::jsonb)), ${actor}, ${at}
    from unnest(${drift.map(row => row.resource_id)}::uuid[], ${drift.map(row => row.tenant_id)}::text[],
      ${drift.map(row => row.field)}::text[], ${drift.map(row => row.desired)}::text[],
      ${drift.map(row => row.actual)}::text[]
    ) as d (resource_id, tenant_id, field, desired, actual)
    returning id as event_id`.execute(tx)
  await publishResourceEvents(tx, rows)
}
