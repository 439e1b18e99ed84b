// SQL of the webhooks themselves.

import { type RawBuilder, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { WebhookRow } from './tables.ts'

/** Which webhooks a caller may touch: the platform's own, or, of those that tenants have made, the ones in its scope. */
export type Whose = 'platform' | Scope

/** The condition on webhooks that every statement about one has. */
export function ownedBy(whose: Whose): RawBuilder<boolean> {
  if (whose === 'platform') return sql`owner_tenant_id is null`
  return whose.allTenants ? sql`owner_tenant_id is not null` : sql`owner_tenant_id = ${whose.tenantId}`
}

const SHOWN = [
  'id',
  'url',
  'events',
  'description',
  'tenant_id',
  'enabled',
  'disabled_reason',
  'previous_secret_expires_at',
  'created_by',
  'created_at',
  'updated_at',
] as const
export type ShownWebhook = Pick<WebhookRow, (typeof SHOWN)[number]>

const WEBHOOKS = auditedTable('webhooks', {
  key: ['id'],
  silent: ['updated_at'],
  secret: ['secret', 'previous_secret'],
})

export async function insertWebhook(executor: Executor, row: WebhookRow): Promise<void> {
  await WEBHOOKS.insert(executor, [row])
}

function shown([row]: WebhookRow[]): ShownWebhook | undefined {
  return row && (Object.fromEntries(SHOWN.map(column => [column, row[column]])) as ShownWebhook)
}

/** How many the tenant has; until the transaction ends nobody else counts, so that no two take the last place. */
export async function countOwnWebhooks(tx: Executor, tenantId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${tenantId}`}, 0))`.execute(tx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from webhooks where owner_tenant_id = ${tenantId}`.execute(tx)
  return rows[0]!.count
}

/** Newest first. */
export function listWebhooks(
  executor: Executor,
  whose: Whose,
  tenantId: string | undefined,
  limit: number,
  before: string | null,
): Promise<ShownWebhook[]> {
  return executor
    .selectFrom('webhooks')
    .select(SHOWN)
    .where(ownedBy(whose))
    .$if(tenantId !== undefined, query => query.where('tenant_id', '=', tenantId!))
    .$if(before !== null, query => query.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findWebhook(executor: Executor, whose: Whose, id: string): Promise<ShownWebhook | undefined> {
  return executor
    .selectFrom('webhooks')
    .select(SHOWN)
    .where('id', '=', id)
    .where(ownedBy(whose))
    .executeTakeFirst()
}

export type WebhookChange = Partial<
  Pick<WebhookRow, 'url' | 'events' | 'description' | 'tenant_id' | 'enabled'>
>

/** Why the service switched it off is forgotten as soon as somebody says on or off. */
export async function updateWebhook(
  executor: Executor,
  whose: Whose,
  id: string,
  change: WebhookChange,
  at: string,
): Promise<ShownWebhook | undefined> {
  const changes = {
    ...change,
    updated_at: at,
    ...(change.enabled !== undefined && { disabled_reason: null }),
  }
  return shown(
    await WEBHOOKS.update(executor, query => query.where('id', '=', id).where(ownedBy(whose)), changes),
  )
}

/** The secret that stood until now signs too until `until`. */
export async function replaceSecret(
  executor: Executor,
  whose: Whose,
  id: string,
  sealed: string,
  { at, until }: { at: string; until: string },
): Promise<ShownWebhook | undefined> {
  const changes = {
    secret: sealed,
    previous_secret: sql<string>`secret`,
    previous_secret_expires_at: until,
    updated_at: at,
  }
  return shown(
    await WEBHOOKS.update(executor, query => query.where('id', '=', id).where(ownedBy(whose)), changes),
  )
}

/** With its deliveries. False when there is none. */
export async function deleteWebhook(executor: Executor, whose: Whose, id: string): Promise<boolean> {
  const gone = await WEBHOOKS.delete(executor, query => query.where('id', '=', id).where(ownedBy(whose)))
  return gone.length > 0
}
