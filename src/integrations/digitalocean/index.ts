// What the rest of the service may use of the DigitalOcean client. It knows no feature and no database.
export type { ProviderAction } from './actions.ts'
export type { Account, Balance, InvoiceHeader } from './billing.ts'
export type { CallOptions, Fetch } from './client.ts'
export {
  type Action,
  type CreatedDroplet,
  type DropletActionInput,
  type DropletInput,
  type DropletsToDestroy,
  isGpuSize,
} from './droplets.ts'
export { type FaultKind, ProviderBusyError, ProviderError } from './errors.ts'
export { isInProjects, isKind, type Kind, kindNames, resourceOfUrn, sourceCount, urnOf } from './kinds.ts'
export {
  type Allowance,
  createProviderRateLimiter,
  defaultLimits,
  type Limits,
  type ProviderRateLimiter,
} from './limits.ts'
export {
  LIST_PRICES,
  listPriceOf,
  MOST_PRICED,
  PRICE_RULES,
  type PriceCondition,
  type Priced,
  type PriceRule,
  type Sku,
} from './list-prices.ts'
export type { Listing, ListingPage, ListingVerdict, ListOptions, PagedListing } from './listing.ts'
export type { PollOptions } from './polling.ts'
export type { Assignment, ProjectInput } from './projects.ts'
export {
  createProvider,
  createProviders,
  oneProvider,
  type Provider,
  type ProviderOptions,
  type Providers,
} from './provider.ts'
export { isTransitional, itemId, type MappedItem, mapItem } from './resources.ts'
export { idText, type RawItem } from './responses.ts'
export { decimalOf, type Size } from './sizes.ts'
