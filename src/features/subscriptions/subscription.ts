// What a subscription looks like: in the API and in the tables.

import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Body, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'

export const SUBSCRIPTION_STATUSES = ['active', 'paused', 'cancelled'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

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

export const SubscriptionAddon = noun('SubscriptionAddon', {
  id: Id,
  code: Type.String(),
  resource_kind: Type.String(),
  qty: Type.Integer({ description: 'What one of it adds.' }),
  price_cents: Type.Integer({ description: 'Of one, when it was attached.' }),
  currency: Type.String(),
  quantity: Type.Integer({ description: 'How many were attached.' }),
  valid_from: Type.String({ ...Time, description: 'From when it holds.' }),
  valid_to: Nullable(
    Type.String({ ...Time, description: 'The first moment it no longer holds; null: until further notice.' }),
  ),
})

const SubscribedPlan = noun('SubscribedPlan', { code: Type.String(), name: Type.String() })

const SubscribedVersion = noun('SubscribedVersion', {
  id: Id,
  version: Type.Integer(),
  base_price_cents: Type.Integer(),
  currency: Type.String(),
  status: Type.String(),
})

/** A row of subscriptions, with its version `v` and its plan `p`. */
export const Subscription = noun(
  'Subscription',
  {
    id: Id,
    deployment_id: Id,
    plan_code: Type.String(),
    plan_version_id: Id,
    plan: SubscribedPlan,
    plan_version: SubscribedVersion,
    status: Type.Enum([...SUBSCRIPTION_STATUSES]),
    current_period_start: Day,
    current_period_end: Day,
    trial_ends_at: Nullable(Time),
    addons: Type.Array(SubscriptionAddon),
  },
  {
    plan_code: 'p.code',
    plan: jsonOf(SubscribedPlan, 'p'),
    plan_version: jsonOf(SubscribedVersion, 'v'),
    addons: `(select coalesce(json_agg(${jsonOf(SubscriptionAddon, 'a')} order by a.code), '[]')
      from subscription_addons a where a.subscription_id = $.id and a.valid_to is null)`,
  },
)

const PlanChangeSide = noun('PlanChangeSide', {
  plan_code: Type.String(),
  plan_version_id: Id,
  base_price_cents: Type.Integer(),
})

export const PlanChange = noun('PlanChange', {
  subscription: Subscription,
  preview: Type.Boolean(),
  from: PlanChangeSide,
  to: PlanChangeSide,
  currency: Type.String(),
  difference_cents: Type.Integer({ description: 'Of the base price, for a month; addons stay as they are.' }),
})

export type SubscriptionRow = Row<'subscriptions'>

/** `valid_to` is the first moment they no longer hold; null: they hold. */
export type SubscriptionTermsRow = Row<'subscription_terms'>

export type SubscriptionAddonRow = Row<'subscription_addons'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    subscriptions: { status: SubscriptionStatus }
  }
}
