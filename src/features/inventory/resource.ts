// What a resource, its events and its history look like: in the API, in webhooks and in the tables.
import type { ColumnType, SelectType } from 'kysely'
import { type Static, Type } from 'typebox'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import type { GeneratedTables } from '../../kernel/db/tables.generated.ts'
import type { Row } from '../../kernel/db/tables.ts'
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

/**
 * SQL: sweeps do not see a resource any more, or a look did not. The release before counts strikes alone, and does not clear
 * the time when it sees the resource again. The first part is the index's.
 */
export const isMissing = (
  row: string,
): string => `(${row}.stale_strike_count > 0 or ${row}.missing_since is not null)
  and (${row}.stale_strike_count > 0 or ${row}.missing_since >= ${row}.last_seen_at)`

export const Resource = noun(
  'Resource',
  {
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
    missing_since: Nullable(
      Type.String({
        ...Time,
        description:
          'When a whole sweep, or a look between the sweeps, first did not find it; null as long as it is seen. Strikes are counted by sweeps alone.',
      }),
    ),
    deleted_at: Nullable(Time),
  },
  {
    missing_since: `case when ${isMissing('$')} then iso8601(coalesce($.missing_since, $.last_seen_at)) end`,
  },
)

const NamedAction = noun(
  'ProviderAction',
  {
    id: Type.Integer({ description: 'The provider’s.' }),
    type: Type.String({ description: 'In the provider’s words, such as `resize`.' }),
    at: Nullable(Type.String({ ...Time, description: 'When it ended, or began if it was still under way.' })),
    region: Nullable(Type.String()),
  },
  {},
  'Something that the provider did and lists.',
)

/** The action that made something, where one explains it. */
export const ActionBehind = Nullable(NamedAction)

export const FieldChanges = Type.Record(
  Type.String(),
  Type.Object({ before: Type.Unknown(), after: Type.Unknown() }),
  { description: 'Field → value before and after.' },
)

export const ResourceEvent = noun('ResourceEvent', {
  id: Id,
  kind: Type.Enum([...EVENT_KINDS]),
  resource_id: Id,
  changes: Nullable(FieldChanges),
  actor: Type.String(),
  action: ActionBehind,
  created_at: Time,
})

export const ResourceOwners = noun('ResourceOwners', {
  valid_from: Time,
  valid_to: Nullable(
    Type.String({ ...Time, description: 'The first moment it no longer held; null: it holds.' }),
  ),
  tenant_id: Nullable(Type.String()),
  project_id: Nullable(Id),
  deployment_id: Nullable(Id),
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

type NamedActionRow = Static<typeof NamedAction>

export type Changes = Record<string, { before: unknown; after: unknown }>

export type CloudResourceRow = Row<'cloud_resources'>
/** `tenant_id` is whose the resource was from this event on; null: nobody’s, or nobody knows. */
export type CloudResourceEventRow = Row<'cloud_resource_events'>
/** How a resource was from one event to the next. */
export type ResourceVersionRow = Row<'resource_versions'>

type ReadOnly<T extends keyof GeneratedTables, Columns> = {
  [C in keyof GeneratedTables[T]]: ColumnType<
    C extends keyof Columns ? Columns[C] : SelectType<GeneratedTables[T][C]>,
    never,
    never
  >
}

declare module '../../kernel/db/tables.ts' {
  // Written by write-resources.ts alone.
  interface ColumnTypes {
    cloud_resources: ReadOnly<'cloud_resources', { attrs: Record<string, unknown> }>
    cloud_resource_events: ReadOnly<
      'cloud_resource_events',
      { kind: EventKind; changes: Changes | null; action: NamedActionRow | null }
    >
    resource_versions: ReadOnly<'resource_versions', { attrs: Record<string, unknown> }>
  }
}
