// Rows of webhooks, of the outbox, and of deliveries with their attempts.
import type { ColumnType, Generated } from 'kysely'
import type { Row } from '../../kernel/db/tables.ts'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** `owner_tenant_id` is whose it is; null: the platform’s. Both secrets are encrypted. */
export type WebhookRow = Row<'webhooks'>
export type WebhookEventRow = Row<'webhook_events'>
export type WebhookDeliveryRow = Row<'webhook_deliveries'>
export type WebhookAttemptRow = Row<'webhook_attempts'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    // Written as JSON text.
    webhook_events: { data: ColumnType<Record<string, unknown>, string, never> }
    webhook_deliveries: { status: Generated<DeliveryStatus> }
  }
}
