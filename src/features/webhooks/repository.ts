// SQL of the webhooks themselves.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { WebhookRow } from './tables.ts'

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

export async function insertWebhook(executor: Executor, row: WebhookRow): Promise<void> {
  await executor.insertInto('webhooks').values(row).execute()
}

/** Newest first. */
export function listWebhooks(
  executor: Executor,
  limit: number,
  before: string | null,
): Promise<ShownWebhook[]> {
  return executor
    .selectFrom('webhooks')
    .select(SHOWN)
    .$if(before !== null, query => query.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findWebhook(executor: Executor, id: string): Promise<ShownWebhook | undefined> {
  return executor.selectFrom('webhooks').select(SHOWN).where('id', '=', id).executeTakeFirst()
}

export type WebhookChange = Partial<
  Pick<WebhookRow, 'url' | 'events' | 'description' | 'tenant_id' | 'enabled'>
>

/** Why the service switched it off is forgotten as soon as somebody says on or off. */
export function updateWebhook(
  executor: Executor,
  id: string,
  change: WebhookChange,
  at: string,
): Promise<ShownWebhook | undefined> {
  return executor
    .updateTable('webhooks')
    .set({ ...change, updated_at: at, ...(change.enabled !== undefined && { disabled_reason: null }) })
    .where('id', '=', id)
    .returning(SHOWN)
    .executeTakeFirst()
}

/** The secret that stood until now signs too until `until`. */
export function replaceSecret(
  executor: Executor,
  id: string,
  sealed: string,
  { at, until }: { at: string; until: string },
): Promise<ShownWebhook | undefined> {
  return executor
    .updateTable('webhooks')
    .set({
      secret: sealed,
      previous_secret: sql<string>`secret`,
      previous_secret_expires_at: until,
      updated_at: at,
    })
    .where('id', '=', id)
    .returning(SHOWN)
    .executeTakeFirst()
}

/** With its deliveries. False when there is none. */
export async function deleteWebhook(executor: Executor, id: string): Promise<boolean> {
  const result = await executor.deleteFrom('webhooks').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows > 0n
}
