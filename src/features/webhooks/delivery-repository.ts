// SQL of deliveries as they are asked for, listed and shown. The database makes the JSON; of an event, what its webhook is
// sent.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { dataFor } from './event-for-tenant.ts'
import { ownedBy, type Whose } from './repository.ts'
import type { DeliveryStatus, WebhookEventRow, WebhookRow } from './tables.ts'

// Of a delivery `d` and its event `e`. Before the first attempt, and while one is under way, no time is known for the next.
const SHOWN = sql.raw(`
  'id', d.id, 'webhook_id', d.webhook_id, 'event_id', d.event_id, 'event_type', e.type, 'tenant_id', e.tenant_id,
  'status', d.status, 'attempt_count', d.attempts,
  'next_attempt_at', case when d.status = 'pending' and d.attempts > 0 and d.claim is null then iso8601(d.due_at) end,
  'created_at', iso8601(d.created_at), 'finished_at', iso8601(d.finished_at)`)

const ATTEMPTS = sql.raw(`(
  select coalesce(json_agg(json_build_object('number', a.number, 'started_at', iso8601(a.started_at),
    'duration_ms', a.duration_ms, 'status_code', a.status_code, 'error', a.error, 'response_body', a.response_body)
    order by a.number), '[]')
  from webhook_attempts a where a.delivery_id = d.id)`)

/** Newest first. */
export async function listDeliveries(
  executor: Executor,
  webhookId: string,
  { status, before, limit }: { status: DeliveryStatus | undefined; before: string | null; limit: number },
): Promise<{ id: string; json: string }[]> {
  const { rows } = await sql<{ id: string; json: string }>`
    select d.id, json_build_object(${SHOWN})::text as json
    from webhook_deliveries d join webhook_events e on e.id = d.event_id
    where d.webhook_id = ${webhookId} ${status === undefined ? sql`` : sql`and d.status = ${status}`}
      ${before === null ? sql`` : sql`and d.id < ${before}`}
    order by d.id desc limit ${limit}`.execute(executor)
  return rows
}

/** With its event and its attempts, as JSON text. */
export async function showDelivery(
  executor: Executor,
  whose: Whose,
  webhookId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await sql<ShownParts>`
    select json_build_object(${SHOWN})::text as delivery, e.type, iso8601(e.occurred_at) as timestamp, e.data::text as data,
      w.tenant_id as hears_of, ${ATTEMPTS}::text as attempts
    from webhook_deliveries d join webhook_events e on e.id = d.event_id
    join (select id, tenant_id from webhooks where id = ${webhookId} and ${ownedBy(whose)}) w on w.id = d.webhook_id
    where d.id = ${id}`.execute(executor)
  if (!rows[0]) return undefined
  const { delivery, type, timestamp, data, hears_of, attempts } = rows[0]
  const event = `{"type":"${type}","timestamp":"${timestamp}","data":${dataFor(hears_of, type, data)}}`
  return `${delivery.slice(0, -1)},"event":${event},"attempts":${attempts}}`
}

/** JSON text, but for the type and the tenant. */
interface ShownParts {
  delivery: string
  type: string
  timestamp: string
  data: string
  hears_of: string | null
  attempts: string
}

/** The event that was delivered. */
export async function eventOf(
  executor: Executor,
  webhookId: string,
  id: string,
): Promise<string | undefined> {
  const row = await executor
    .selectFrom('webhook_deliveries')
    .select('event_id')
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.event_id
}

export type NewEvent = Omit<WebhookEventRow, 'data'> & { data: string }

export async function insertEvent(tx: Executor, event: NewEvent): Promise<void> {
  await tx.insertInto('webhook_events').values(event).execute()
}

/** Due at once. */
export async function insertDelivery(
  tx: Executor,
  delivery: { id: string; webhook_id: string; event_id: string; created_at: string },
): Promise<void> {
  await tx.insertInto('webhook_deliveries').values(delivery).execute()
}

/** It is neither deleted nor switched off before the transaction ends. */
export function holdWebhook(
  tx: Executor,
  whose: Whose,
  id: string,
): Promise<Pick<WebhookRow, 'enabled' | 'owner_tenant_id'> | undefined> {
  return tx
    .selectFrom('webhooks')
    .select(['enabled', 'owner_tenant_id'])
    .where('id', '=', id)
    .where(ownedBy(whose))
    .forShare()
    .executeTakeFirst()
}
