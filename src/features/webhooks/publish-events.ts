// The outbox: events for webhooks are written in the transaction that causes them, with a delivery for each webhook that
// wants them. Nothing is written when nobody does.
import { runStatement, type Statement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { EVENT_TYPES } from './event-types.ts'

export type EventType = (typeof EVENT_TYPES)[number]

/** SQL: whether a webhook wants an event; both are names of rows. */
const wants = (webhook: string, event: string) =>
  `${webhook}.enabled and (${webhook}.tenant_id is null or ${webhook}.tenant_id = ${event}.tenant_id)
    and ${webhook}.events && array['*', ${event}.type, split_part(${event}.type, '.', 1) || '.*']`

/**
 * SQL: the expressions of a `with` that publish what `events` selects: type, tenant_id, occurred_at and data. `data` is
 * made only for events that somebody wants. A webhook that is being deleted at this moment is locked against the reference
 * to it: it is passed over, and nobody waits.
 */
export const publishing = (events: string): string => `happened as (${events}),
    published as (
      insert into webhook_events (id, type, tenant_id, occurred_at, data)
      select uuid_v7(), h.type, h.tenant_id, h.occurred_at, h.data from happened h
      where exists (select from webhooks where enabled)
        and exists (select from webhooks w where ${wants('w', 'h')})
      returning id, type, tenant_id, occurred_at),
    listening as (
      select w.id, w.enabled, w.tenant_id, w.events from webhooks w
      where w.enabled and exists (select from published)
        and (w.tenant_id is null or w.tenant_id in (select tenant_id from published))
      order by w.id for key share skip locked),
    delivering as (
      insert into webhook_deliveries (id, webhook_id, event_id, created_at)
      select uuid_v7(), l.id, p.id, p.occurred_at
      from published p join listening l on ${wants('l', 'p')} order by p.id)`

/** The same as a statement of its own. */
export async function publishEvents(tx: Executor, events: Statement, values: unknown[]): Promise<void> {
  const text = `with ${publishing(events.text)} select`
  await runStatement(tx, { name: events.name && `publish_${events.name}`, text }, values)
}

export interface Happened {
  type: EventType
  /** Whose it is; null: the platform's. */
  tenantId: string | null
  at: string
  data: object
}

/** An event whose data is at hand. */
export const publishEvent = (tx: Executor, { type, tenantId, at, data }: Happened): Promise<void> =>
  publishEvents(
    tx,
    {
      name: 'event',
      text: 'select $1::text as type, $2::text as tenant_id, $3::timestamptz as occurred_at, $4::json as data',
    },
    [type, tenantId, at, JSON.stringify(data)],
  )
