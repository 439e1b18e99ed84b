// Rows of subscriptions and of the addons attached to them.

export const SUBSCRIPTION_STATUSES = ['active', 'paused', 'cancelled'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

export interface SubscriptionRow {
  id: string
  deployment_id: string
  plan_version_id: string
  status: SubscriptionStatus
  current_period_start: string
  current_period_end: string
  trial_ends_at: string | null
  created_at: string
  updated_at: string
}

export interface SubscriptionAddonRow {
  id: string
  subscription_id: string
  code: string
  resource_kind: string
  qty: number
  price_cents: number
  currency: string
  quantity: number
  created_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    subscriptions: SubscriptionRow
    subscription_addons: SubscriptionAddonRow
  }
}
