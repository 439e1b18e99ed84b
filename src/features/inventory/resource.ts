// What a resource, its events and its history look like: in the API, in webhooks and in the tables.
import type { ColumnType } from 'kysely'
import { Type } from 'typebox'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'

export const PROVIDER = 'digitalocean'

export const KindName = Type.Enum([...kindNames])

export const EVENT_KINDS = [
  'discovered',
  'updated',
  'deleted',
  'drift_detected',
  'tagged',
  'restored',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export const Resource = noun('Resource', {
  id: Id,
  provider: Type.String(),
  provider_id: Type.String(),
  kind: KindName,
  name: Type.String(),
  region: Nullable(Type.String()),
  status: Nullable(Type.String()),
  tenant_id: Nullable(Type.String()),
  project_id: Nullable(Id),
  deployment_id: Nullable(Id),
  tags: Type.Array(Type.String()),
  attrs: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What the provider says of this kind; secrets and noise left out.',
  }),
  first_seen_at: Time,
  last_seen_at: Time,
  stale_strike_count: Type.Integer({
    description: 'Whole sweeps in a row that did not see it; the third deletes it.',
  }),
  deleted_at: Nullable(Time),
})

export const ResourceEvent = noun('ResourceEvent', {
  id: Id,
  kind: Type.Enum([...EVENT_KINDS]),
  resource_id: Id,
  changes: Nullable(
    Type.Record(Type.String(), Type.Object({ before: Type.Unknown(), after: Type.Unknown() }), {
      description: 'Field → value before and after.',
    }),
  ),
  actor: Type.String(),
  created_at: Time,
})

export const ResourceDetail = extended('ResourceDetail', Resource, {
  events: Type.Array(ResourceEvent, { maxItems: 50, description: 'The latest 50, newest last.' }),
  desired_state: Nullable(
    Type.Object({
      spec: Type.Record(Type.String(), Type.Unknown()),
      spec_version: Type.Integer(),
      saga_id: Nullable(Id),
    }),
  ),
  drift: Type.Array(Type.Unknown(), { description: 'Open drift.' }),
})

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

type ReadOnly<Row> = { [Column in keyof Row]: ColumnType<Row[Column], never, never> }

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    cloud_resources: ReadOnly<CloudResourceRow>
    cloud_resource_events: ReadOnly<CloudResourceEventRow>
    resource_versions: ReadOnly<ResourceVersionRow>
  }
}
