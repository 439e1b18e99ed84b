// Rows of the mirrored projects and resources, their events, and the record of sweeps.
import type { ColumnType } from 'kysely'

export const PROVIDER = 'digitalocean'

export const PURPOSES = ['internal', 'tenant', 'shared', 'unassigned'] as const
export type Purpose = (typeof PURPOSES)[number]

export const EVENT_KINDS = [
  'discovered',
  'updated',
  'deleted',
  'drift_detected',
  'tagged',
  'restored',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const RUN_STATUSES = ['running', 'complete', 'partial', 'failed'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export interface CloudProjectRow {
  id: string
  provider: string
  provider_id: string
  name: string
  description: string | null
  is_default: boolean
  tenant_id: string | null
  purpose: Purpose
  first_seen_at: string
  last_seen_at: string
  last_look: number
  stale_strike_count: number
  deleted_at: string | null
}

export interface CloudProjectMemberRow {
  provider: string
  kind: string
  provider_id: string
  project_id: string
  /** When a saga put it there; null where only a list has said so. */
  placed_at: string | null
  /** And at which look; null where a node of the version before has put it there. */
  placed_look: number | null
}

/** Written by write-resources.ts alone. */
export interface CloudResourceRow {
  id: string
  provider: string
  provider_id: string
  kind: string
  name: string
  region: string | null
  status: string | null
  tenant_id: string | null
  project_id: string | null
  deployment_id: string | null
  tags: string[]
  attrs: Record<string, unknown>
  fingerprint: string
  first_seen_at: string
  last_seen_at: string
  last_look: number
  stale_strike_count: number
  deleted_at: string | null
}

export interface CloudResourceEventRow {
  id: string
  resource_id: string
  /** Whose the resource was from this event on; null: nobody's, or nobody knows. */
  tenant_id: string | null
  kind: EventKind
  changes: Changes | null
  actor: string
  created_at: string
}

/** How a resource was from one event to the next. */
export interface ResourceVersionRow
  extends Pick<
    CloudResourceRow,
    | 'kind'
    | 'name'
    | 'region'
    | 'status'
    | 'tenant_id'
    | 'project_id'
    | 'deployment_id'
    | 'tags'
    | 'attrs'
    | 'deleted_at'
  > {
  resource_id: string
  event_id: string
  valid_from: string
  valid_to: string | null
}

export type Changes = Record<string, { before: unknown; after: unknown }>

export interface SyncRunRow {
  id: string
  sweep_id: string
  kind: string
  attempt: number
  status: RunStatus
  started_at: string
  finished_at: string | null
  pages: number
  seen: number
  total: number | null
  inserted: number
  updated: number
  struck: number
  deleted: number
  restored: number
  held: number
  confirmed_at: string | null
  confirmed_by: string | null
  error: string | null
  look: number
  cut: number
  set_aside: number
  remarks: string | null
}

type ReadOnly<Row> = { [Column in keyof Row]: ColumnType<Row[Column], never, never> }

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    cloud_projects: CloudProjectRow
    cloud_project_members: CloudProjectMemberRow
    cloud_resources: ReadOnly<CloudResourceRow>
    cloud_resource_events: ReadOnly<CloudResourceEventRow>
    resource_versions: ReadOnly<ResourceVersionRow>
    sync_runs: SyncRunRow
    sync_freshness: { kind: string; complete_at: string; run_id: string }
  }
}
