// Rows of subscriptions, of the terms they had and have, and of the addons attached to them.
import type { Row } from '../../kernel/db/tables.ts'

export const SUBSCRIPTION_STATUSES = ['active', 'paused', 'cancelled'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

export type SubscriptionRow = Row<'subscriptions'>

/**
 * Kept in step with the subscription by the database (migrations/0025_subscription_terms.sql). `valid_to` is the first moment
 * they no longer hold; null: they hold.
 */
export type SubscriptionTermsRow = Row<'subscription_terms'>
export type SubscriptionAddonRow = Row<'subscription_addons'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    subscriptions: { status: SubscriptionStatus }
  }
}
