// Rows of subscriptions, of the terms they had and have, and of the addons attached to them.

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

/** Kept in step with the subscription by the database (migrations/0025_subscription_terms.sql). */
export interface SubscriptionTermsRow {
  id: string
  subscription_id: string
  plan_version_id: string
  valid_from: string
  /** The first moment they no longer hold; null: they hold. */
  valid_to: string | null
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
  valid_from: string
  /** As for terms. */
  valid_to: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    subscriptions: SubscriptionRow
    subscription_terms: SubscriptionTermsRow
    subscription_addons: SubscriptionAddonRow
  }
}
