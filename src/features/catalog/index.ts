// The catalog: what other parts of the service may use.
export type { PriceGuard } from './actions.ts'
export {
  type CatalogDiff,
  type Change,
  catalogDiff,
  describeChange,
  type StandingCatalog,
} from './catalog-diff.ts'
export {
  type Catalog,
  CatalogDocument,
  readCatalogBody,
  readCatalogFile,
  writeCatalogFile,
} from './catalog-file.ts'
export { type DraftTerms, readDraftTerms } from './draft-terms.ts'
export { type Aggregation, type MeterRow, TIME_UNITS, unitErrors, unitsOf } from './meter.ts'
export { meterRoutes } from './meter-routes.ts'
export { itemsJson, type PlanItem, sameTerms, type VersionTerms } from './plan.ts'
export { type AddonRow, type ResourcePriceRow, subjectOf } from './price.ts'
export { catalogRoutes } from './routes.ts'
export { seedExampleCatalog } from './seed.ts'
export { findActiveVersion, findAddons, findMeters, findVersion, listPricesBetween } from './store.ts'
