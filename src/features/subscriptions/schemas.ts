// The API's words for subscriptions.
import { Type } from 'typebox'
import { Body, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { SUBSCRIPTION_STATUSES } from './tables.ts'

const Code = Type.String({ minLength: 1, maxLength: 64 })
const Day = Type.String({ format: 'date' })
const MOST_ADDONS = 50

export const SubscribeBody = Body({
  plan_code: Code,
  addons: Type.Optional(
    Type.Array(
      Type.Union([
        Code,
        Body({
          code: Code,
          quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })),
        }),
      ]),
      { maxItems: MOST_ADDONS, description: 'Codes, or codes with a quantity.' },
    ),
  ),
  trial_ends_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'For operators with `deployments:operate`.' })),
  ),
})

export const ChangePlanVersionBody = Body({
  plan_code: Type.Optional(Type.String({ ...Code, description: 'The plan’s active version.' })),
  plan_version_id: Type.Optional(
    Type.String({ ...Id, description: 'One that is not active: for a platform_admin.' }),
  ),
  preview: Type.Optional(
    Type.Boolean({ default: false, description: 'Says what would change, and changes nothing.' }),
  ),
})

const SubscriptionAddon = Type.Object({
  code: Type.String(),
  resource_kind: Type.String(),
  qty: Type.Integer({ description: 'What one of it adds.' }),
  price_cents: Type.Integer({ description: 'Of one, when it was attached.' }),
  currency: Type.String(),
  quantity: Type.Integer({ description: 'How many were attached.' }),
})

export const Subscription = Type.Object({
  id: Id,
  deployment_id: Id,
  plan_code: Type.String(),
  plan_version_id: Id,
  plan: Type.Object({ code: Type.String(), name: Type.String() }),
  plan_version: Type.Object({
    id: Id,
    version: Type.Integer(),
    base_price_cents: Type.Integer(),
    currency: Type.String(),
    status: Type.String(),
  }),
  status: Type.Enum([...SUBSCRIPTION_STATUSES]),
  current_period_start: Day,
  current_period_end: Day,
  trial_ends_at: Nullable(Time),
  addons: Type.Array(SubscriptionAddon),
})

export const PlanChange = Type.Object({
  subscription: Subscription,
  preview: Type.Boolean(),
  from: Type.Object({ plan_code: Type.String(), plan_version_id: Id, base_price_cents: Type.Integer() }),
  to: Type.Object({ plan_code: Type.String(), plan_version_id: Id, base_price_cents: Type.Integer() }),
  currency: Type.String(),
  difference_cents: Type.Integer({ description: 'Of the base price, for a month; addons stay as they are.' }),
})
