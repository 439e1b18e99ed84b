// The API's words for webhooks.
import { type TUnsafe, Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import type { CreateWebhook } from './create-webhook.ts'
import { PATTERNS, TENANT_PATTERNS } from './event-types.ts'
import type { WebhookChange } from './repository.ts'
import { DELIVERY_STATUSES } from './tables.ts'

export const WebhookParams = Type.Object({ id: Id })
export const DeliveryParams = Type.Object({ ...WebhookParams.properties, delivery_id: Id })

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Where events are sent: https, and not to a private address, unless the configuration allows it.',
})
const eventsOf = (patterns: readonly string[]) =>
  Type.Array(Type.Enum([...patterns]), {
    minItems: 1,
    maxItems: patterns.length,
    uniqueItems: true,
    description: 'Types, families such as `drift.*`, or `*`.',
  })
const Description = Nullable(Type.String({ maxLength: 255 }))
const Tenant = Nullable(
  Type.String({ ...ExternalId, description: 'Only events of this tenant; null: of all, and of none.' }),
)
const Enabled = Type.Boolean({
  description: 'While it is false nothing is kept for the webhook, and what is pending waits.',
})

const fields = (patterns: readonly string[]) => ({
  url: Url,
  events: eventsOf(patterns),
  description: Type.Optional(Description),
})
const changes = (patterns: readonly string[]) => ({
  url: Type.Optional(Url),
  events: Type.Optional(eventsOf(patterns)),
  description: Type.Optional(Description),
  enabled: Type.Optional(Enabled),
})
const made = { enabled: Type.Optional({ ...Enabled, default: true }) }

export interface Bodies {
  CreateBody: TUnsafe<CreateWebhook>
  ChangeBody: TUnsafe<WebhookChange>
}

/** The platform's own may hear of everything, or of one tenant. */
export const platformBodies: Bodies = {
  CreateBody: Type.Unsafe(Body({ ...fields(PATTERNS), tenant_id: Type.Optional(Tenant), ...made })),
  ChangeBody: Type.Unsafe(Body({ ...changes(PATTERNS), tenant_id: Type.Optional(Tenant) })),
}

/** A tenant's hear of what is the tenant's, and it stays the tenant's. */
export const tenantBodies: Bodies = {
  CreateBody: Type.Unsafe(
    Body({
      ...fields(TENANT_PATTERNS),
      tenant_id: Type.Optional(
        Type.String({
          ...ExternalId,
          description:
            'Whose it is: the caller’s own tenant. Required of an operator whose token names none.',
        }),
      ),
      ...made,
    }),
  ),
  ChangeBody: Type.Unsafe(Body(changes(TENANT_PATTERNS))),
}

export const WebhooksQuery = Query({ ...PageQuery, tenant_id: Type.Optional(ExternalId) })

export const Webhook = Type.Object({
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

export const WebhookWithSecret = Type.Object({
  ...Webhook.properties,
  secret: Type.String({
    description: '`whsec_…`, for verifying signatures. It is shown here and never again.',
  }),
})

export const DeliveriesQuery = Query({
  ...PageQuery,
  status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
})

export const Delivery = Type.Object({
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
})

const Attempt = Type.Object({
  number: Type.Integer(),
  started_at: Time,
  duration_ms: Type.Integer(),
  status_code: Nullable(Type.Integer({ description: 'Null: there was no answer.' })),
  error: Nullable(Type.String({ description: 'Why there was no answer.' })),
  response_body: Nullable(Type.String({ description: 'The first KiB of the answer.' })),
})

export const DeliveryWithAttempts = Type.Object({
  ...Delivery.properties,
  event: Type.Object(
    { type: Type.String(), timestamp: Time, data: Type.Object({}, { additionalProperties: true }) },
    { description: 'What is sent.' },
  ),
  attempts: Type.Array(Attempt, { description: 'In order.' }),
})
