// An event that code tells of, in the transaction that makes it happen; most are told by the outbox's triggers. Nothing is
// written when nobody wants to hear of it.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { newId } from '../../kernel/ids.ts'
import type { EVENT_TYPES } from './event-types.ts'

export interface Happened {
  type: (typeof EVENT_TYPES)[number]
  /** Whose it is; null: the platform's. */
  tenantId: string | null
  at: string
  data: Record<string, unknown>
}

export async function tellWebhooks(tx: Executor, { type, tenantId, at, data }: Happened): Promise<void> {
  await sql`
    insert into webhook_events (id, type, tenant_id, occurred_at, data)
    select ${newId()}::uuid, ${type}, ${tenantId}, ${at}::timestamptz, ${JSON.stringify(data)}::json
    where exists (select from webhooks w where webhook_wants(w, ${type}, ${tenantId}))`.execute(tx)
}
