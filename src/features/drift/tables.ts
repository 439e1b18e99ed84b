// Rows of desired states, of drift, and of the rules that say which drift does not matter.
import type { ColumnType } from 'kysely'
import type { Row } from '../../kernel/db/tables.ts'

export const DRIFT_STATUSES = ['open', 'accepted', 'reverted', 'stale'] as const
export type DriftStatus = (typeof DRIFT_STATUSES)[number]

type Computed<T> = ColumnType<T, never, never>

/**
 * `tenant_id` is whose the resource was when it was written: in other hands the desired state rests, and is compared with
 * nothing. `attributes`, `singles` and `tags` are parts of the spec that the database keeps apart for the sweep.
 */
export type CloudProvisionedRow = Row<'cloud_provisioned'>
/** `tenant_id` is whose the resource was when it opened. */
export type CloudDriftRow = Row<'cloud_drift'>
export type CloudDriftIgnoredRow = Row<'cloud_drift_ignored'>
/** In `field`, `*` stands for any run of characters. */
export type DriftIgnoreRuleRow = Row<'drift_ignore_rules'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_provisioned: {
      spec: Record<string, unknown>
      attributes: Computed<Record<string, unknown>>
      singles: Computed<Record<string, unknown> | null>
    }
    cloud_drift: { status: DriftStatus }
  }
}
