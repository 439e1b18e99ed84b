// Events: which there are, how they are published, and what of one a tenant may read. They are written to the outbox in the
// transaction that causes them, with a delivery for each webhook that wants them; nothing is written when none does.
import { runStatement, type Statement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'

export const EVENT_TYPES = [
  'deployment.transitioned',
  'resource.discovered',
  'resource.updated',
  'resource.deleted',
  'resource.restored',
  'resource.drift_detected',
  'resource.tagged',
  'resource.missing',
  'drift.opened',
  'drift.accepted',
  'drift.stale',
  'saga.completed',
  'saga.failed',
  'saga.rolled_back',
  'statement.closed',
  'budget.threshold_reached',
  'cost.unusual_day',
  'finding.opened',
  'finding.closed',
  'invoice.ingested',
  'invoice.ingest_failed',
  'invoice.pushed',
  'audit.checkpoint',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Sent on request, to one webhook, whatever events that one chose. */
export const TEST_EVENT = 'webhook.test'

/** These belong to the platform, never to a tenant. */
const PLATFORM_FAMILIES = ['invoice', 'audit']

const FAMILIES = [...new Set(EVENT_TYPES.map(type => type.slice(0, type.indexOf('.'))))]

/** `*` for all, `drift.*` for a family, or one type. */
export const PATTERNS = ['*', ...FAMILIES.map(family => `${family}.*`), ...EVENT_TYPES]

/** Those that can be a tenant's; `*` is all of these. */
export const TENANT_PATTERNS = PATTERNS.filter(pattern => !PLATFORM_FAMILIES.includes(pattern.split('.')[0]!))

/** SQL: whether a webhook wants an event; both are names of rows. */
const wants = (webhook: string, event: string) =>
  `${webhook}.enabled and (${webhook}.tenant_id is null or ${webhook}.tenant_id = ${event}.tenant_id)
    and ${webhook}.events && array['*', ${event}.type, split_part(${event}.type, '.', 1) || '.*']`

/**
 * SQL: the expressions of a `with` that publish what `events` selects: type, tenant_id, occurred_at and data. `data` is
 * made only for events that a webhook wants. A webhook that is being deleted at this moment is locked against the
 * reference to it: it is passed over, and nobody waits.
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

interface NewEvent {
  type: EventType
  /** Whose it is; null: the platform's. */
  tenantId: string | null
  at: string
  data: object
}

/** An event whose data is at hand. */
export const publishEvent = (tx: Executor, { type, tenantId, at, data }: NewEvent): Promise<void> =>
  publishEvents(
    tx,
    {
      name: 'event',
      text: 'select $1::text as type, $2::text as tenant_id, $3::timestamptz as occurred_at, $4::json as data',
    },
    [type, tenantId, at, JSON.stringify(data)],
  )

export interface StoredEvent {
  type: string
  occurred_at: string
  /** JSON text. */
  data: string
}

/** The JSON text that a webhook is sent; `tenantId`: the one tenant whose events it gets, or null for all. */
export const messageFor = (tenantId: string | null, { type, occurred_at, data }: StoredEvent): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${occurred_at}","data":${dataFor(tenantId, type, data)}}`

/**
 * What a tenant reads instead of the reason why a saga failed. Reasons hold the provider's words about the platform's
 * account, and who cancelled; contexts and outputs the provider's ids and what became of resources that may be another's
 * by now.
 */
export const REASON_FOR_TENANTS = 'The operator of the platform can see why.'

type Changes = Record<string, { before: unknown; after: unknown }>

interface Data {
  saga?: { error: object | null; context: object }
  event?: { kind?: string; changes?: Changes | null; action?: object | null }
}

/** `data` is JSON text, and is returned as it is where there is nothing to leave out. */
export function dataFor(tenantId: string | null, type: string, data: string): string {
  const [family] = type.split('.')
  if (tenantId === null || (family !== 'saga' && family !== 'resource')) return data
  const all = JSON.parse(data) as Data
  const { saga, event } = all
  // As GET /sagas shows a tenant its runs.
  if (saga) {
    const error = saga.error && { ...saga.error, reason: REASON_FOR_TENANTS }
    return JSON.stringify({ ...all, saga: { ...saga, context: {}, error } })
  }
  if (event?.changes && hasChangedHands(event.kind, event.changes))
    return JSON.stringify({ ...all, event: arrival(event, event.changes) })
  return data
}

/** As its new tenant is told of it: neither what was before nor what the provider did then. */
const arrival = (event: NonNullable<Data['event']>, changes: Changes) => ({
  ...event,
  changes: withoutBefore(changes),
  ...(event.action && { action: null }),
})

/** The event by which a resource comes to a tenant. (What drifted from a desired tenant_id has not moved.) */
const hasChangedHands = (kind: string | undefined, changes: Changes): boolean =>
  kind !== 'drift_detected' && Object.hasOwn(changes, 'tenant_id')

/** What was before is the former tenant's: its id, its project, its deployment, its names, and what has gone with it. */
const withoutBefore = (changes: Changes): Changes =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([field, { after }]) =>
      after === null ? [] : [[field, { before: null, after }]],
    ),
  )
