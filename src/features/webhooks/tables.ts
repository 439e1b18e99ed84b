// Rows of webhooks, of the outbox, and of deliveries with their attempts.
import type { ColumnType, Generated } from 'kysely'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export interface WebhookRow {
  id: string
  url: string
  events: string[]
  description: string | null
  tenant_id: string | null
  /** Whose it is; null: the platform's. */
  owner_tenant_id: string | null
  enabled: boolean
  disabled_reason: string | null
  /** Both sealed. */
  secret: string
  previous_secret: string | null
  previous_secret_expires_at: string | null
  created_by: string
  created_at: string
  updated_at: string
}

export interface WebhookEventRow {
  id: string
  type: string
  tenant_id: string | null
  occurred_at: string
  /** Written as JSON text. */
  data: ColumnType<Record<string, unknown>, string, never>
}

export interface WebhookDeliveryRow {
  id: string
  webhook_id: string
  event_id: string
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  due_at: Generated<string>
  claim: string | null
  created_at: string
  finished_at: string | null
}

export interface WebhookAttemptRow {
  delivery_id: string
  number: number
  started_at: string
  duration_ms: number
  status_code: number | null
  error: string | null
  response_body: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    webhooks: WebhookRow
    webhook_events: WebhookEventRow
    webhook_deliveries: WebhookDeliveryRow
    webhook_attempts: WebhookAttemptRow
  }
}
