// What webhooks and their deliveries look like, in the API and in the tables, and the secrets that sign messages.
import { randomBytes } from 'node:crypto'
import type { ColumnType, Generated } from 'kysely'
import { Type } from 'typebox'
import { SECRET_PREFIX } from '../../integrations/webhooks/index.ts'
import { type Encryption, encryptionFor, type SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, jsonOf, noun } from '../../kernel/noun.ts'

export const Webhook = noun('Webhook', {
  id: Id,
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: Nullable(Type.String()),
  tenant_id: Nullable(Type.String()),
  enabled: Type.Boolean(),
  disabled_reason: Nullable(Type.String({ description: 'Why the service itself switched it off.' })),
  previous_secret_expires_at: Nullable(
    Type.String({ ...Time, description: 'Until then the secret before the last rotation signs too.' }),
  ),
  created_by: Type.String(),
  created_at: Time,
  updated_at: Time,
})

export const WebhookWithSecret = extended('WebhookWithSecret', Webhook, {
  secret: Type.String({
    description: '`whsec_…`, for verifying signatures. It is shown here and never again.',
  }),
})

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** A row of webhook_deliveries, with its event `e`. */
export const Delivery = noun(
  'Delivery',
  {
    id: Id,
    webhook_id: Id,
    event_id: Type.String({ ...Id, description: 'The `webhook-id` header; a replay has the same.' }),
    event_type: Type.String(),
    tenant_id: Nullable(Type.String()),
    status: Type.Enum([...DELIVERY_STATUSES], {
      description: '`pending`: not sent yet, or to be tried again; `failed`: given up.',
    }),
    attempt_count: Type.Integer(),
    next_attempt_at: Nullable(
      Type.String({ ...Time, description: 'Null when it is over, under way, or due at once.' }),
    ),
    created_at: Time,
    finished_at: Nullable(Time),
  },
  {
    event_type: 'e.type',
    tenant_id: 'e.tenant_id',
    attempt_count: '$.attempts',
    next_attempt_at: `case when $.status = 'pending' and $.attempts > 0 and $.claim is null then iso8601($.due_at) end`,
  },
)

const DeliveryAttempt = noun('DeliveryAttempt', {
  number: Type.Integer(),
  started_at: Time,
  duration_ms: Type.Integer(),
  status_code: Nullable(Type.Integer({ description: 'Null: there was no answer.' })),
  error: Nullable(Type.String({ description: 'Why there was no answer.' })),
  response_body: Nullable(Type.String({ description: 'The first KiB of the answer.' })),
})

const WebhookMessage = noun(
  'WebhookMessage',
  { type: Type.String(), timestamp: Time, data: Type.Object({}, { additionalProperties: true }) },
  {},
  'What is sent.',
)

export const DeliveryDetail = extended('DeliveryDetail', Delivery, {
  event: WebhookMessage,
  attempts: Type.Array(DeliveryAttempt, { description: 'In order.' }),
})

/** SQL: the attempts of a delivery as JSON. */
export const ATTEMPTS_OF_DELIVERY = `(select coalesce(json_agg(${jsonOf(DeliveryAttempt, 'a')} order by a.number), '[]')
  from webhook_attempts a where a.delivery_id = $.id)`

/** `owner_tenant_id` is whose it is; null: the platform’s. Both secrets are encrypted. */
export type WebhookRow = Row<'webhooks'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    // Written as JSON text.
    webhook_events: { data: ColumnType<Record<string, unknown>, string, never> }
    webhook_deliveries: { status: Generated<DeliveryStatus> }
  }
}

const SECRET_BYTES = 32
const OVERLAP_MS = 24 * 3_600_000

export const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** Until when the secret that is replaced now signs too. */
export const overlapEnd = (now: Date): string => new Date(now.getTime() + OVERLAP_MS).toISOString()

export const webhookEncryptionOf = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('webhook secrets', secretKeys)

/** For the rotation of SECRET_KEY. Each secret is encrypted for its webhook alone. */
export const encryptedWebhooks = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'webhooks',
  key: ['id'],
  columns: ['secret', 'previous_secret'],
  reencrypt: webhookEncryptionOf(secretKeys).reencrypt,
  placeOf: ({ id }) => id!,
})

export type EncryptedSecrets = Pick<WebhookRow, 'secret' | 'previous_secret' | 'previous_secret_expires_at'>

/** The secrets that sign now, the newest first. Throws when none of the listed SECRET_KEYs has encrypted them. */
export function signingSecrets(
  encryption: Encryption,
  id: string,
  { secret, previous_secret, previous_secret_expires_at: until }: EncryptedSecrets,
  now: Date,
): string[] {
  const both = until !== null && Date.parse(until) > now.getTime() ? [secret, previous_secret!] : [secret]
  return both.map(encrypted => encryption.decrypt(encrypted, id))
}
