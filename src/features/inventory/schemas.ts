// The API's words for the inventory.
import { Type } from 'typebox'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { EVENT_KINDS, PURPOSES, RUN_STATUSES } from './tables.ts'

const Text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, description })
const KindName = Type.Enum([...kindNames])

export const IdParams = Type.Object({ id: Id })

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

export const ResourceDetail = Type.Object({
  ...Resource.properties,
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

export const AsOf = Type.Record(Type.String(), Time, {
  description: 'Kind → start of its last complete sweep. A kind that is missing was never swept whole.',
})

export const InventoryQuery = Query({
  ...PageQuery,
  kind: Type.Optional(KindName),
  region: Type.Optional(Text(64)),
  status: Type.Optional(Text(64)),
  project_id: Type.Optional(Id),
  deployment_id: Type.Optional(Id),
  name: Type.Optional(Text(255, 'Exact.')),
  tag: Type.Optional(Text(255)),
  tenant_id: Type.Optional(
    Type.String({ ...ExternalId, description: 'For operators; others see their own.' }),
  ),
  include_deleted: Type.Boolean({ default: false }),
})

export const Project = Type.Object({
  id: Id,
  provider: Type.String(),
  provider_id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  is_default: Type.Boolean(),
  tenant_id: Nullable(Type.String()),
  purpose: Type.Enum([...PURPOSES]),
  first_seen_at: Time,
  last_seen_at: Time,
  deleted_at: Nullable(Time),
})

export const ProjectsQuery = Query({
  ...PageQuery,
  purpose: Type.Optional(Type.Enum([...PURPOSES])),
  tenant_id: Type.Optional(ExternalId),
  include_deleted: Type.Boolean({ default: false }),
})

export const AssignProjectBody = Body({
  tenant_id: Type.Optional(Nullable(ExternalId)),
  purpose: Type.Optional(Type.Enum([...PURPOSES])),
})

export const SyncRun = Type.Object({
  id: Id,
  sweep_id: Type.String({
    description: 'The same for all kinds of one sweep: the id of the run of `resource_sync`.',
  }),
  kind: Type.String({ description: 'A kind, or `project`.' }),
  status: Type.Enum([...RUN_STATUSES], {
    description: '`partial`: the listing was not whole, so nothing was struck.',
  }),
  started_at: Time,
  finished_at: Nullable(Time),
  pages: Type.Integer(),
  seen: Type.Integer(),
  total: Nullable(Type.Integer({ description: 'What the provider said there are.' })),
  inserted: Type.Integer(),
  updated: Type.Integer(),
  struck: Type.Integer(),
  deleted: Type.Integer(),
  restored: Type.Integer(),
  held: Type.Integer({ description: 'Deletions held back because they were too many at once.' }),
  confirmed_at: Nullable(Time),
  confirmed_by: Nullable(Type.String()),
  error: Nullable(Type.String()),
  cut: Type.Integer({
    description: 'Items that are stored in part: something of them was too long or too much.',
  }),
  set_aside: Type.Integer({
    description: 'Items that could not be stored. They count as seen: nothing of them is struck.',
  }),
  remarks: Nullable(Type.String({ description: 'What was cut or set aside, and why.' })),
})

export const SyncRunsQuery = Query({
  ...PageQuery,
  kind: Type.Optional(Type.Enum([...kindNames, 'project'])),
  status: Type.Optional(Type.Enum([...RUN_STATUSES])),
  sweep_id: Type.Optional(Id),
})
