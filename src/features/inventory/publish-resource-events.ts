// What webhooks hear of resources: each event of the log, with the resource as it is now.
import type { Executor } from '../../kernel/db/tables.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { publishEvents } from '../webhooks/index.ts'
import { Resource, ResourceEvent } from './schemas.ts'

// What is published of the resource as it is now must not go together with what another tenant had.
const PUBLISH = {
  name: 'resource_events',
  text: `select 'resource.' || e.kind as type, case when r.tenant_id = e.tenant_id then e.tenant_id end as tenant_id,
      e.created_at as occurred_at, json_build_object('tenant_id', r.tenant_id, 'resource', ${jsonOf(Resource, 'r')},
        'event', ${jsonOf(ResourceEvent, 'e')}) as data
    from cloud_resource_events e join cloud_resources r on r.id = e.resource_id where e.id = any($1::uuid[])`,
}

export async function publishResourceEvents(tx: Executor, events: { event_id: string }[]): Promise<void> {
  if (events.length > 0) await publishEvents(tx, PUBLISH, [events.map(({ event_id }) => event_id)])
}
