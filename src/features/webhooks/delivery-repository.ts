// SQL of deliveries as they are asked for, listed and shown. The database makes the JSON.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { DeliveryStatus, WebhookEventRow } from './tables.ts'

// Of a delivery `d` and its event `e`. Before the first attempt, and while one is under way, no time is known for the next.
const SHOWN = sql.raw(`
  'id', d.id, 'webhook_id', d.webhook_id, 'event_id', d.event_id, 'event_type', e.type, 'tenant_id', e.tenant_id,
  'status', d.status, 'attempt_count', d.attempts,
  'next_attempt_at', case when d.status = 'pending' and d.attempts > 0 and d.claim is null then iso8601(d.due_at) end,
  'created_at', iso8601(d.created_at), 'finished_at', iso8601(d.finished_at)`)

const EVENT = sql.raw(
  `json_build_object('type', e.type, 'timestamp', iso8601(e.occurred_at), 'data', e.data)`,
)

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
  webhookId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select json_build_object(${SHOWN}, 'event', ${EVENT}, 'attempts', ${ATTEMPTS})::text as json
    from webhook_deliveries d join webhook_events e on e.id = d.event_id
    where d.webhook_id = ${webhookId} and d.id = ${id}`.execute(executor)
  return rows[0]?.json
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

/** Whether it is switched on; it is neither deleted nor switched off before the transaction ends. */
export async function holdWebhook(tx: Executor, id: string): Promise<boolean | undefined> {
  const row = await tx
    .selectFrom('webhooks')
    .select('enabled')
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst()
  return row?.enabled
}
