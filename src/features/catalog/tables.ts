// Rows of the pricing catalog.

import type { Row } from '../../kernel/db/tables.ts'
import type { VersionState } from './version-lifecycle.ts'

export type PlanRow = Row<'plans'>
export type PlanVersionRow = Row<'plan_versions'>
export type PlanItemRow = Row<'plan_items'>
export type AddonRow = Row<'addons'>
/** `effective_to` is the first day it no longer holds; null: until further notice. */
export type ResourcePriceRow = Row<'resource_prices'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    plan_versions: { status: VersionState }
  }
}
