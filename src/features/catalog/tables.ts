// Rows of the pricing catalog.
import type { VersionState } from './version-lifecycle.ts'

export interface PlanRow {
  id: string
  code: string
  name: string
  last_version: number
  created_at: string
}

export interface PlanVersionRow {
  id: string
  plan_id: string
  version: number
  base_price_cents: number
  currency: string
  status: VersionState
  created_at: string
  published_at: string | null
  retired_at: string | null
}

export interface PlanItemRow {
  plan_version_id: string
  resource_kind: string
  included_qty: number
  overage_unit: string | null
  overage_price_cents: number | null
  hard_cap_qty: number | null
}

export interface AddonRow {
  id: string
  code: string
  name: string
  resource_kind: string
  qty: number
  price_cents: number
  currency: string
  created_at: string
  updated_at: string
}

export interface ResourcePriceRow {
  id: string
  resource_kind: string
  unit: string
  price_cents: number
  currency: string
  effective_from: string
  /** The first day it no longer holds; null: until further notice. */
  effective_to: string | null
  created_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    plans: PlanRow
    plan_versions: PlanVersionRow
    plan_items: PlanItemRow
    addons: AddonRow
    resource_prices: ResourcePriceRow
  }
}
