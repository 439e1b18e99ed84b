// What a subscription looks like: in the API and in the tables.

import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Body, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import { MonthPreview } from './month-preview.ts'

export const SUBSCRIPTION_STATUSES = ['active', 'paused', 'cancelled'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

const Code = Type.String({ minLength: 1, maxLength: 64 })
const Day = Type.String({ format: 'date' })
const MOST_ADDONS = 50

const Quantity = Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })

const DAY_OR_TIME = '[12]\\d{3}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2}))?'

export const DayOrTime = Type.String({ pattern: `^${DAY_OR_TIME}$` })

const WHEN =
  '`now`, `next_period` (the first of the next month), a day (its first moment) or a time; UTC. Default: `now`.'
const EffectiveFrom = Type.String({ pattern: `^(now|next_period|${DAY_OR_TIME})$`, description: WHEN })
const Preview = Type.Boolean({
  description:
    'Shows the statement that the month would end with, beside that of today, and changes nothing.',
})

export const AddAddonBody = Body({
  code: Code,
  quantity: Type.Optional(Quantity),
  effective_from: Type.Optional(EffectiveFrom),
  preview: Type.Optional(Preview),
})

export const RemoveAddonQuery = Query({
  effective_from: Type.Optional(EffectiveFrom),
  preview: Type.Optional(Preview),
})

export const SubscribeBody = Body({
  plan_code: Code,
  addons: Type.Optional(
    Type.Array(Type.Union([Code, Body({ code: Code, quantity: Type.Optional(Quantity) })]), {
      maxItems: MOST_ADDONS,
      description: 'Codes, or codes with a quantity.',
    }),
  ),
  trial_ends_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'For operators with `deployments:operate`.' })),
  ),
  effective_from: Type.Optional(
    Type.String({
      ...EffectiveFrom,
      description: `${WHEN} In the past for a platform_admin: not before the deployment was made, nor in a month that is closed.`,
    }),
  ),
  preview: Type.Optional(Preview),
})

export const ChangePlanVersionBody = Body({
  plan_code: Type.Optional(Type.String({ ...Code, description: 'The plan’s active version.' })),
  plan_version_id: Type.Optional(
    Type.String({ ...Id, description: 'One that is not active: for a platform_admin.' }),
  ),
  effective_from: Type.Optional(EffectiveFrom),
  preview: Type.Optional(Preview),
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

/** A row of terms that have not begun, with its version `sv` and its plan `sp`. */
export const ScheduledVersion = noun(
  'ScheduledVersion',
  {
    effective_from: Time,
    plan_code: Type.String(),
    plan_version_id: Id,
    base_price_cents: Type.Integer(),
  },
  {
    effective_from: 'iso8601($.valid_from)',
    plan_code: 'sp.code',
    base_price_cents: 'sv.base_price_cents',
  },
)

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
    addons: Type.Array(SubscriptionAddon, { description: 'Those that hold now.' }),
    scheduled_versions: Type.Array(ScheduledVersion, { description: 'Which will hold, and from when.' }),
    scheduled_addons: Type.Array(SubscriptionAddon, { description: 'Those that will hold.' }),
  },
  {
    plan_code: 'p.code',
    plan: jsonOf(SubscribedPlan, 'p'),
    plan_version: jsonOf(SubscribedVersion, 'v'),
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
  difference_cents: Type.Integer({
    description: 'Of the base price, for a whole month; addons stay as they are.',
  }),
  effective_from: Time,
  /** With `preview: true`; else null. */
  month: Nullable(MonthPreview),
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
