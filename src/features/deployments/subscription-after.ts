// What a deployment's move means for its subscription. Pure.
import type { SubscriptionStatus } from '../subscriptions/index.ts'
import type { DeploymentState } from './lifecycle.ts'

/** Null leaves the subscription as it is. */
export const SUBSCRIPTION_AFTER = {
  trial: null,
  active: 'active',
  past_due: null,
  paused: 'paused',
  suspended: 'paused',
  cancelled: 'cancelled',
  archived: null,
} as const satisfies Record<DeploymentState, SubscriptionStatus | null>

export const subscriptionAfter = (state: DeploymentState): SubscriptionStatus | null =>
  SUBSCRIPTION_AFTER[state]
