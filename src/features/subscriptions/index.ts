// Subscriptions: what other parts of the service may use.
export { changePlanVersion, type PlanChangeRequest } from './change-plan-version.ts'
export { type Entitlement, findEntitlement, SUBSCRIPTION_JSON } from './repository.ts'
export { rollOverPeriods } from './roll-over-periods.ts'
export { ChangePlanVersionBody, PlanChange, SubscribeBody, Subscription } from './schemas.ts'
export { type AddonChoice, subscribe } from './subscribe.ts'
export type { SubscriptionStatus } from './tables.ts'
export { findTerms, type SubscriptionTerms } from './terms-repository.ts'
