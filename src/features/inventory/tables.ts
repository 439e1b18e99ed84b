// Rows of the mirrored projects and resources, their events, and the record of sweeps.
import type { ColumnType, SelectType } from 'kysely'
import type { GeneratedTables } from '../../kernel/db/tables.generated.ts'
import type { Row } from '../../kernel/db/tables.ts'

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

export type Changes = Record<string, { before: unknown; after: unknown }>

type ReadOnly<T extends keyof GeneratedTables, Columns> = {
  [C in keyof GeneratedTables[T]]: ColumnType<
    C extends keyof Columns ? Columns[C] : SelectType<GeneratedTables[T][C]>,
    never,
    never
  >
}

export type CloudProjectRow = Row<'cloud_projects'>
/** `placed_at` and `placed_look` say when a saga put it there; null where only a list has said so. */
export type CloudProjectMemberRow = Row<'cloud_project_members'>
export type CloudResourceRow = Row<'cloud_resources'>
/** `tenant_id` is whose the resource was from this event on; null: nobody’s, or nobody knows. */
export type CloudResourceEventRow = Row<'cloud_resource_events'>
export type SyncRunRow = Row<'sync_runs'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_projects: { purpose: Purpose }
    // Written by write-resources.ts alone.
    cloud_resources: ReadOnly<'cloud_resources', { attrs: Record<string, unknown> }>
    cloud_resource_events: ReadOnly<'cloud_resource_events', { kind: EventKind; changes: Changes | null }>
    sync_runs: { status: RunStatus }
  }
}
