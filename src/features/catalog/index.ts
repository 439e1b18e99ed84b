// The catalog: what other parts of the service may use.
export type { PriceGuard } from './actions.ts'
export {
  type CatalogDiff,
  type Change,
  catalogDiff,
  describeChange,
  type StandingCatalog,
} from './catalog-diff.ts'
export { type Catalog, readCatalogFile, writeCatalogFile } from './catalog-file.ts'
export { type Aggregation, type MeterRow, TIME_UNITS, unitsOf } from './meter.ts'
export { meterRoutes } from './meter-routes.ts'
export { itemsJson, type PlanItem, sameTerms, type VersionTerms } from './plan.ts'
export type { AddonRow, ResourcePriceRow } from './price.ts'
export { catalogRoutes } from './routes.ts'
export { seedExampleCatalog } from './seed.ts'
export { findActiveVersion, findAddons, findMeters, findVersion, listPricesBetween } from './store.ts'
