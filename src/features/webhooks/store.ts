// SQL of webhooks, and of their deliveries as they are requested and shown.
import { type RawBuilder, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf, fieldsOf, jsonOf } from '../../kernel/noun.ts'
import { messageFor, type StoredEvent } from './events.ts'
import {
  ATTEMPTS_OF_DELIVERY,
  Delivery,
  DeliveryDetail,
  type DeliveryStatus,
  Webhook,
  type WebhookRow,
} from './webhook.ts'

/** Which webhooks a caller may touch: the platform's own, or, of those that tenants have made, the ones in its scope. */
export type Owner = 'platform' | Scope

/** The condition on webhooks that every statement about one has. */
function ownedBy(owner: Owner): RawBuilder<boolean> {
  if (owner === 'platform') return sql`owner_tenant_id is null`
  return owner.allTenants ? sql`owner_tenant_id is not null` : sql`owner_tenant_id = ${owner.tenantId}`
}

export type ShownWebhook = Pick<WebhookRow, keyof typeof Webhook.properties>

const WEBHOOKS = auditedTable('webhooks', {
  key: ['id'],
  silent: ['updated_at'],
  secret: ['secret', 'previous_secret'],
})

const shown = ([row]: WebhookRow[]): ShownWebhook | undefined => row && fieldsOf(Webhook, row)

export async function insertWebhook(executor: Executor, row: WebhookRow): Promise<ShownWebhook> {
  return shown(await WEBHOOKS.insert(executor, [row]))!
}

/** How many the tenant has. Until the transaction ends nobody else counts, so that no two take the last place. */
export async function countOwnWebhooks(tx: Executor, tenantId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${tenantId}`}, 0))`.execute(tx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from webhooks where owner_tenant_id = ${tenantId}`.execute(tx)
  return rows[0]!.count
}

/** Newest first. */
export function listWebhooks(
  executor: Executor,
  owner: Owner,
  tenantId: string | undefined,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> {
  const platform = owner === 'platform'
  return listPage(executor, {
    name: platform ? 'webhooks_of_platform' : 'webhooks_of_tenants',
    select: `select w.id, ${jsonOf(Webhook, 'w')}::text as json from webhooks w`,
    where: `w.owner_tenant_id is ${platform ? '' : 'not '}null`,
    filters: {
      owner: ['w.owner_tenant_id = ?', platform || owner.allTenants ? undefined : owner.tenantId],
      tenant_id: ['w.tenant_id = ?', tenantId],
    },
    orderBy: ['w.id'],
    descending: true,
    after,
    limit,
  })
}

export function findWebhook(executor: Executor, owner: Owner, id: string): Promise<ShownWebhook | undefined> {
  return executor
    .selectFrom('webhooks')
    .select(columnsOf(Webhook))
    .where('id', '=', id)
    .where(ownedBy(owner))
    .executeTakeFirst()
}

/** It is neither deleted nor switched off before the transaction ends. */
export function lockWebhook(
  tx: Executor,
  owner: Owner,
  id: string,
): Promise<Pick<WebhookRow, 'enabled' | 'owner_tenant_id'> | undefined> {
  return tx
    .selectFrom('webhooks')
    .select(['enabled', 'owner_tenant_id'])
    .where('id', '=', id)
    .where(ownedBy(owner))
    .forShare()
    .executeTakeFirst()
}

export type WebhookChanges = Partial<
  Pick<WebhookRow, 'url' | 'events' | 'description' | 'tenant_id' | 'enabled'>
>

/** Why the service switched it off is forgotten as soon as a caller switches it on or off. */
export async function updateWebhook(
  executor: Executor,
  owner: Owner,
  id: string,
  changes: WebhookChanges,
  at: string,
): Promise<ShownWebhook | undefined> {
  return shown(
    await WEBHOOKS.update(executor, query => query.where('id', '=', id).where(ownedBy(owner)), {
      ...changes,
      updated_at: at,
      ...(changes.enabled !== undefined && { disabled_reason: null }),
    }),
  )
}

/** The secret before it signs too until `until`. */
export async function replaceSecret(
  executor: Executor,
  owner: Owner,
  id: string,
  encrypted: string,
  { at, until }: { at: string; until: string },
): Promise<ShownWebhook | undefined> {
  return shown(
    await WEBHOOKS.update(executor, query => query.where('id', '=', id).where(ownedBy(owner)), {
      secret: encrypted,
      previous_secret: sql<string>`secret`,
      previous_secret_expires_at: until,
      updated_at: at,
    }),
  )
}

/** With its deliveries. False when there is none. */
export async function deleteWebhook(executor: Executor, owner: Owner, id: string): Promise<boolean> {
  const gone = await WEBHOOKS.delete(executor, query => query.where('id', '=', id).where(ownedBy(owner)))
  return gone.length > 0
}

/** Newest first. */
export function listDeliveries(
  executor: Executor,
  webhookId: string,
  status: DeliveryStatus | undefined,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> {
  return listPage(executor, {
    name: 'webhook_deliveries',
    select: `select d.id, ${jsonOf(Delivery, 'd')}::text as json
      from webhook_deliveries d join webhook_events e on e.id = d.event_id`,
    filters: { webhook: ['d.webhook_id = ?', webhookId], status: ['d.status = ?', status] },
    orderBy: ['d.id'],
    descending: true,
    after,
    limit,
  })
}

interface DeliveredEvent extends StoredEvent {
  id: string
  /** The one tenant whose events the webhook gets; null: all. */
  webhook_tenant_id: string | null
}

export async function findEventOfDelivery(
  executor: Executor,
  owner: Owner,
  webhookId: string,
  id: string,
): Promise<DeliveredEvent | undefined> {
  const { rows } = await sql<DeliveredEvent>`
    select e.id, e.type, e.occurred_at, e.data::text as data, w.webhook_tenant_id
    from webhook_deliveries d join webhook_events e on e.id = d.event_id
    join (select id, tenant_id as webhook_tenant_id from webhooks where id = ${webhookId} and ${ownedBy(owner)}) w
      on w.id = d.webhook_id
    where d.id = ${id}`.execute(executor)
  return rows[0]
}

const SHOW_DELIVERY = {
  name: 'webhook_delivery_show',
  text: `select ${jsonOf(DeliveryDetail, 'd', { event: '$2::json', attempts: ATTEMPTS_OF_DELIVERY })}::text as json
    from webhook_deliveries d join webhook_events e on e.id = d.event_id where d.id = $1::uuid`,
}

/** With its attempts and its event as it is sent, as JSON text. */
export async function showDelivery(
  executor: Executor,
  owner: Owner,
  webhookId: string,
  id: string,
): Promise<string | undefined> {
  const event = await findEventOfDelivery(executor, owner, webhookId, id)
  if (!event) return undefined
  const values = [id, messageFor(event.webhook_tenant_id, event)]
  return (await runStatement<{ json: string }>(executor, SHOW_DELIVERY, values))[0]?.json
}

export interface NewEvent extends StoredEvent {
  id: string
  tenant_id: string | null
}

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
