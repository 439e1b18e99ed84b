// The catalog: what other parts of the service may use.
export { findAddons } from './addon-repository.ts'
export { findActiveVersion, type SignupTerms } from './find-active-version.ts'
export { catalogRoutes } from './routes.ts'
export type { AddonRow, PlanItemRow, PlanRow, PlanVersionRow, ResourcePriceRow } from './tables.ts'
export { VERSION_MOVES, VERSION_STATES, type VersionState } from './version-lifecycle.ts'
export { findVersion, type PlanVersion } from './version-repository.ts'
export type { PlanItem, VersionTerms } from './version-terms.ts'
