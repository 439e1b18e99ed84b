// What a subscription's terms are: rows with dates, which say what held, holds and will hold.
import type { Static } from 'typebox'
import type { PlanItem } from '../catalog/index.ts'
import type { SubscriptionAddon } from './subscription.ts'

/** From its beginning to the first moment at which it no longer holds; null: until further notice. */
export interface Holding {
  valid_from: string
  valid_to: string | null
}

/** A plan version that holds. */
export interface VersionTerms extends Holding {
  plan_code: string
  plan_version_id: string
  base_price_cents: number
  items: PlanItem[]
}

/** An addon as it was agreed on when it was attached. */
export type AddonTerms = Static<typeof SubscriptionAddon>

/** Those of a stretch of time. Its versions follow one another without a gap. */
export interface SubscriptionTerms {
  subscription_id: string
  deployment_id: string
  currency: string
  trial_ends_at: string | null
  versions: VersionTerms[]
  addons: AddonTerms[]
}
