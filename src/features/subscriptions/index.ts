// Subscriptions: what other parts of the service may use.
export {
  type AddonChoice,
  previewSubscribe,
  rollOverPeriods,
  rollOverTenant,
  subscribe,
} from './actions.ts'
export { addAddon, changePlanVersion, removeAddon, timeOf } from './change.ts'
export {
  type Books,
  LINE_KINDS,
  MonthPreview,
  type PreviewMonth,
  type PreviewQuestion,
  StatementLine,
} from './month-preview.ts'
export {
  type Entitlement,
  findEntitlement,
  findTerms,
  followDeployment,
  following,
  SUBSCRIPTION_OF_DEPLOYMENT,
  versionMembers,
} from './store.ts'
export {
  AddAddonBody,
  ChangePlanVersionBody,
  DayOrTime,
  PlanChange,
  RemoveAddonQuery,
  SUBSCRIPTION_STATUSES,
  SubscribeBody,
  Subscription,
  SubscriptionAddon,
  type SubscriptionStatus,
} from './subscription.ts'
export type { AddonTerms, SubscriptionTerms, VersionTerms } from './terms.ts'
