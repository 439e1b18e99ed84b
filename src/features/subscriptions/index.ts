// Subscriptions: what other parts of the service may use.
export {
  type AddonChoice,
  changePlanVersion,
  followDeployment,
  rollOverPeriods,
  subscribe,
} from './actions.ts'
export {
  type Entitlement,
  findEntitlement,
  findTerms,
  SUBSCRIPTION_OF_DEPLOYMENT,
} from './store.ts'
export {
  ChangePlanVersionBody,
  PlanChange,
  SUBSCRIPTION_STATUSES,
  SubscribeBody,
  Subscription,
  type SubscriptionStatus,
} from './subscription.ts'
export type { AddonTerms, SubscriptionTerms, VersionTerms } from './terms.ts'
