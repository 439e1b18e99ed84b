// /api/v1/inventory, /api/v1/projects and /api/v1/inventory/sync-runs
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { jsonPage } from '../../kernel/http/json.ts'
import { cursorOf, PageQuery } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, Many, NoBody, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { assignProject, confirmHeldDeletions } from './actions.ts'
import { assignResource } from './assign-resource.ts'
import { CHANGE_FILTERS, keyOfChange, listChanges, ResourceChange } from './changes.ts'
import { listResources } from './list-resources.ts'
import { listResourcesThen } from './list-then.ts'
import { past, span } from './moments.ts'
import { Project, PURPOSES } from './project.ts'
import { findProject, listProjects } from './project-store.ts'
import { DEEPEST, ResourceRelations, relationsOf } from './relations.ts'
import { KindName, Resource, ResourceDetail, ResourceEvent, ResourceOwners } from './resource.ts'
import { showResourceThen } from './show-then.ts'
import { freshness, listEvents, listOwners, type ResourceMembers, showResource } from './store.ts'
import { PROJECTS, RUN_STATUSES, SyncRun } from './sync-run.ts'
import { findSyncRun, listSyncRuns } from './sync-run-store.ts'

const Text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, description })

const params = Type.Object({ id: Id })
const byId = (row: { id: string }): [string] => [row.id]

const AsOf = Type.Record(Type.String(), Time, {
  description: 'Kind → start of its last complete sweep. A kind that is missing was never swept whole.',
})

const KnownSince = Nullable(
  Type.String({
    ...Time,
    description:
      'The first moment at which anything was the caller’s: `at` tells nothing of before. Null: none yet.',
  }),
)

const TenantFilter = Type.Optional(
  Type.String({ ...ExternalId, description: 'For operators; others see their own.' }),
)

const At = Type.String({
  ...Time,
  description: 'As it was at this moment, which is not in the future: what was the caller’s then.',
})

const InventoryQuery = Query({
  ...PageQuery,
  at: Type.Optional(At),
  kind: Type.Optional(KindName),
  region: Type.Optional(Text(64)),
  status: Type.Optional(Text(64)),
  project_id: Type.Optional(Id),
  deployment_id: Type.Optional(Id),
  name: Type.Optional(Text(255, 'Exact.')),
  tag: Type.Optional(Text(255)),
  tenant_id: TenantFilter,
  missing: Type.Boolean({
    default: false,
    description: 'Only living ones that the last whole sweep of their kind, or a look since, did not find.',
  }),
  include_deleted: Type.Boolean({ default: false }),
})

const AssignResource = Body({
  deployment_id: Nullable(Type.String({ ...Id, description: 'Null: of none.' })),
})

export const inventoryRoutes = (deps: Deps, members: ResourceMembers) =>
  routes(deps, { tag: 'Inventory', guard: 'caller' }, route => {
    const base = '/api/v1/inventory'
    const resources = cursorOf('inventory', ['uuid'])

    // Not `route.list`: the page says how fresh it is.
    route.app.withTypeProvider<TypeBoxTypeProvider>().get(
      base,
      {
        config: { guard: 'caller' },
        schema: {
          tags: ['Inventory'],
          operationId: 'listResources',
          summary: 'List resources',
          description:
            'Operators see all tenants, any other caller its own. `as_of` says how fresh each kind is, `known_since` how far back `at` goes. With `at`, as it was at that ' +
            'moment: names, tags, owners and all that has a history. `last_seen_at` is then no later than `at`, and ' +
            '`stale_strike_count` counts only if it was not seen since. Such a page may be shorter than `limit` though more follow: ' +
            '`next_cursor` says so.',
          querystring: InventoryQuery,
          response: {
            200: Type.Object({ ...Many(Resource).properties, as_of: AsOf, known_since: KnownSince }),
          },
        },
      },
      async (request, reply) => {
        const { limit, cursor, at, ...filter } = request.query
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        if (at !== undefined && filter.missing)
          throw invalid('The query is not acceptable.', [
            { pointer: '?missing', message: 'is known of now, not of a moment in the past' },
          ])
        const after = resources.read(cursor)?.[0] as string | undefined
        const scope = scopeOf(caller)
        const asked = [deps.db, scope, filter, limit + 1, after ?? null] as const
        const [{ rows, until }, { asOf, knownSince }] = await Promise.all([
          at === undefined
            ? listResources(...asked).then(rows => ({ rows, until: null }))
            : listResourcesThen(past(deps, at), ...asked),
          freshness(deps.db, scope, filter.kind),
        ])
        const page = resources.page(rows, limit, byId, until === null ? null : [until])
        return jsonPage(request, reply, page, `,"as_of":${asOf},"known_since":${knownSince}`)
      },
    )

    route.list(
      `${base}/changes`,
      {
        id: 'listResourceChanges',
        summary: 'List what changed between two moments',
        description:
          'For each resource net, in the order in which they last changed: `added`, `gone`, or `changed` with every field before and ' +
          'after. What was as before at the end is left out. A tenant sees what came to it, left it and changed while it had it, ' +
          'as does an operator that names one.',
        filters: { ...CHANGE_FILTERS, tenant_id: TenantFilter },
        items: ResourceChange,
        cursor: cursorOf('resource_changes', ['time', 'uuid']),
        key: keyOfChange,
      },
      ({ caller, scope, filter: { from, to, ...filter }, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listChanges(deps.db, scope, span(from, to), filter, limit, after as [string, string] | null)
      },
    )

    route.get(
      `${base}/:id`,
      {
        id: 'getResource',
        summary: 'Get a resource',
        description:
          'With its latest events, desired state and open drift. A tenant that has the resource from another sees ' +
          'none of these from before; the one that had it gets 404, and still its own part of the events. With `at`, as it was ' +
          'at that moment, for whose it was then: with the events until then, and without a desired state and drift, of ' +
          'which no history is kept.',
        params,
        query: Query({ at: Type.Optional(At) }),
        data: ResourceDetail,
      },
      async ({ scope, params, query: { at } }) => {
        const json = await (at === undefined
          ? showResource(deps.db, scope, members, params.id)
          : showResourceThen(deps.db, scope, params.id, past(deps, at)))
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.patch(
      `${base}/:id`,
      {
        id: 'assignResource',
        guard: 'operator',
        summary: 'Tie a resource to a deployment',
        description:
          'For what carries no tag `deployment:<id>`: load balancers, domains, databases, registries. It holds from now on, until ' +
          'it is taken back (null), a tag of the resource ties it, or the resource changes hands; sweeps leave it as it is. The ' +
          'deployment is one of the resource’s tenant, else 422; a resource that no project holds (a registry) becomes its tenant’s. 409 `tied_by_tag` where a tag ties the resource, ' +
          '`resource_gone` when it was deleted.',
        problems: {
          409: {
            tied_by_tag: 'A tag of the resource ties it to a deployment.',
            resource_gone: 'The resource was deleted.',
          },
        },
        params,
        body: AssignResource,
        data: ResourceDetail,
      },
      async ({ deps, caller, scope, params, body }) => {
        await assignResource(deps, params.id, body.deployment_id, caller.sub)
        return new JsonText((await showResource(deps.db, scope, members, params.id))!)
      },
    )

    route.list(
      `${base}/:id/events`,
      {
        id: 'listResourceEvents',
        summary: 'List the events of a resource',
        description:
          'Newest first. A tenant sees those of the time in which the resource was its own, also when it is no longer; ' +
          'the event by which it came shows every `before` as null, and nothing that is null since.',
        params,
        items: ResourceEvent,
        cursor: cursorOf('resource_events', ['uuid']),
        key: byId,
      },
      async ({ scope, params, limit, after }) => {
        const rows = await listEvents(deps.db, scope, params.id, limit, after && String(after[0]))
        if (!rows) throw notFound()
        return rows
      },
    )

    route.get(
      `${base}/:id/relations`,
      {
        id: 'getResourceRelations',
        summary: 'Get what belongs to a resource',
        description:
          'Volumes, addresses, networks, firewalls (by name or tag), load balancers, snapshots, images and clusters, from what the ' +
          'provider last said, up to `depth` steps away; what shares its project or deployment is the list with that filter. ' +
          '`losses` says what breaks if the resource goes: ask before you destroy it. A tenant sees its own. 404 for what is gone.',
        params,
        query: Query({ depth: Type.Integer({ minimum: 1, maximum: DEEPEST, default: 1 }) }),
        data: ResourceRelations,
      },
      async ({ scope, params, query: { depth } }) => {
        const relations = await relationsOf(deps.db, scope, params.id, depth)
        if (!relations) throw notFound()
        return relations
      },
    )

    route.list(
      `${base}/:id/owners`,
      {
        id: 'listResourceOwners',
        summary: 'List who has had a resource',
        description:
          'From when to when it lived, and for whom: tenant, project and deployment. Newest first. A tenant sees the time in which the resource was its own, also when it is no longer.',
        params,
        items: ResourceOwners,
        cursor: cursorOf('resource_owners', ['time']),
        key: (row: { valid_from: string }) => [row.valid_from],
      },
      async ({ scope, params, limit, after }) => {
        const rows = await listOwners(deps.db, scope, params.id, limit, after && String(after[0]))
        if (!rows) throw notFound()
        return rows
      },
    )
  })

const PROJECT_FILTERS = {
  purpose: Type.Optional(Type.Enum([...PURPOSES])),
  tenant_id: Type.Optional(ExternalId),
  include_deleted: Type.Boolean({ default: false }),
}

const AssignProject = Body({
  tenant_id: Type.Optional(Nullable(ExternalId)),
  purpose: Type.Optional(Type.Enum([...PURPOSES])),
})

export const projectRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Inventory', guard: 'caller' }, route => {
    const base = '/api/v1/projects'

    route.list(
      base,
      {
        id: 'listProjects',
        summary: 'List projects',
        description: 'A tenant sees its own.',
        filters: PROJECT_FILTERS,
        items: Project,
        cursor: cursorOf('projects', ['uuid']),
        key: byId,
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listProjects(deps.db, scope, filter, limit, after && String(after[0]))
      },
    )

    route.get(
      `${base}/:id`,
      { id: 'getProject', summary: 'Get a project', params, data: Project },
      async ({ scope, params }) => {
        const project = await findProject(deps.db, scope, params.id)
        if (!project) throw notFound()
        return project
      },
    )

    route.patch(
      `${base}/:id`,
      {
        id: 'assignProject',
        guard: 'operator',
        summary: 'Assign a project to a tenant',
        description: 'Its resources take the tenant at once, with an event each.',
        params,
        body: AssignProject,
        data: Project,
      },
      ({ deps, caller, params, body }) => assignProject(deps, params.id, body, caller.sub),
    )
  })

const RUN_FILTERS = {
  kind: Type.Optional(Type.Enum([...kindNames, PROJECTS])),
  status: Type.Optional(Type.Enum([...RUN_STATUSES])),
  sweep_id: Type.Optional(Id),
}

export const syncRunRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Inventory', guard: 'operator' }, route => {
    const base = '/api/v1/inventory/sync-runs'

    route.list(
      base,
      {
        id: 'listSyncRuns',
        summary: 'List sync runs',
        description: 'One record for each kind of each sweep, newest first.',
        filters: RUN_FILTERS,
        items: SyncRun,
        cursor: cursorOf('sync_runs', ['uuid']),
        key: byId,
      },
      ({ filter, limit, after }) => listSyncRuns(deps.db, filter, limit, after && String(after[0])),
    )

    route.get(
      `${base}/:id`,
      { id: 'getSyncRun', summary: 'Get a sync run', params, data: SyncRun },
      async ({ params }) => {
        const run = await findSyncRun(deps.db, params.id)
        if (!run) throw notFound()
        return run
      },
    )

    route.post(
      `${base}/:id/confirm`,
      {
        id: 'confirmHeldDeletions',
        summary: 'Confirm held deletions',
        description:
          'Deletes what the brake held and no one has seen since. 409 `nothing_held`, `already_confirmed` or `superseded`.',
        problems: {
          409: {
            nothing_held: 'The run holds no deletions.',
            already_confirmed: 'They were confirmed before.',
            superseded: 'A newer sweep of this kind has run.',
          },
        },
        params,
        body: NoBody,
        data: SyncRun,
      },
      ({ deps, caller, params }) => confirmHeldDeletions(deps, params.id, caller.sub),
    )
  })
