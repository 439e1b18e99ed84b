// Rows of desired states, of drift, and of the rules that say which drift does not matter.
import type { ColumnType } from 'kysely'

export const DRIFT_STATUSES = ['open', 'accepted', 'reverted', 'stale'] as const
export type DriftStatus = (typeof DRIFT_STATUSES)[number]

type Generated<T> = ColumnType<T, never, never>

export interface CloudProvisionedRow {
  resource_id: string
  /** Whose the resource was when it was said. In other hands it rests: it is compared with nothing. */
  tenant_id: string | null
  /** Field → desired value. */
  spec: Record<string, unknown>
  spec_version: number
  saga_id: string | null
  created_at: string
  updated_at: string
  /** Parts of the spec, kept apart by the database for the sweep. */
  attributes: Generated<Record<string, unknown>>
  singles: Generated<Record<string, unknown> | null>
  tags: Generated<string[] | null>
}

export interface CloudDriftRow {
  id: string
  resource_id: string
  /** Whose the resource was when it opened. */
  tenant_id: string | null
  kind: string
  field: string
  desired: unknown
  actual: unknown
  status: DriftStatus
  detected_at: string
  last_detected_at: string
  resolved_at: string | null
  resolved_by: string | null
}

export interface CloudDriftIgnoredRow {
  id: string
  resource_id: string
  kind: string
  field: string
  desired: unknown
  actual: unknown
  rule_id: string
  detected_at: string
  last_detected_at: string
}

export interface DriftIgnoreRuleRow {
  id: string
  kind: string | null
  resource_id: string | null
  /** `*` stands for any run of characters. */
  field: string
  reason: string
  expires_at: string | null
  created_by: string
  created_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    cloud_provisioned: CloudProvisionedRow
    cloud_drift: CloudDriftRow
    cloud_drift_ignored: CloudDriftIgnoredRow
    drift_ignore_rules: DriftIgnoreRuleRow
  }
}
