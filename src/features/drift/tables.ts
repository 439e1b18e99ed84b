// Rows of desired states and of drift.

export const DRIFT_STATUSES = ['open', 'accepted', 'reverted', 'stale'] as const
export type DriftStatus = (typeof DRIFT_STATUSES)[number]

export interface CloudProvisionedRow {
  resource_id: string
  /** Field → desired value. */
  spec: Record<string, unknown>
  spec_version: number
  saga_id: string | null
  created_at: string
  updated_at: string
}

export interface CloudDriftRow {
  id: string
  resource_id: string
  field: string
  desired: unknown
  actual: unknown
  status: DriftStatus
  detected_at: string
  last_detected_at: string
  resolved_at: string | null
  resolved_by: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    cloud_provisioned: CloudProvisionedRow
    cloud_drift: CloudDriftRow
  }
}
