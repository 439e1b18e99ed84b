// /api/v1/drift, /api/v1/drift/ignore-rules and /api/v1/inventory/:id/desired-state, for operators.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, type Routes, routes } from '../../kernel/http/route.ts'
import { Body, Id, NoBody, Nullable, Time } from '../../kernel/http/schemas.ts'
import { acceptDrift, createIgnoreRule, dropDesiredState, setDesiredState } from './actions.ts'
import {
  AcceptedDrift,
  DesiredState,
  DRIFT_STATUSES,
  Drift,
  FieldPattern,
  IgnoreRule,
  KindName,
  Spec,
} from './drift.ts'
import { findDrift, findRule, IGNORE_RULES, listDrift, listIgnored, listRules } from './store.ts'

const params = Type.Object({ id: Id })
const key = (row: { id: string }) => [row.id]

export const driftRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Drift', guard: 'operator' }, route => {
    addDrift(route)
    addIgnoreRules(route)
    addDesiredStates(route)
  })

const cursors = { drift: cursorOf('drift', ['uuid']), ignored: cursorOf('drift_ignored', ['uuid']) }

function addDrift(route: Routes<Deps>): void {
  const base = '/api/v1/drift'

  route.list(
    base,
    {
      id: 'listDrift',
      summary: 'List drift',
      description: 'What is open, unless another status is asked for. Newest first.',
      filters: {
        status: Type.Optional(Type.Enum([...DRIFT_STATUSES], { description: 'Default: `open`.' })),
        kind: Type.Optional(KindName),
        resource_id: Type.Optional(Id),
        ignored: Type.Boolean({
          default: false,
          description: 'Mismatches that a rule covers, instead of drift; not together with `status`.',
        }),
      },
      items: Drift,
      cursor: ({ ignored }) => (ignored ? cursors.ignored : cursors.drift),
      key,
    },
    ({ deps, filter: { ignored, status, ...filter }, limit, after }) => {
      if (!ignored) return listDrift(deps.db, { status: status ?? 'open', ...filter }, limit, after)
      if (status === undefined) return listIgnored(deps.db, filter, limit, after)
      throw invalid('The query is not acceptable.', [
        { pointer: '?status', message: 'cannot be asked for together with ignored' },
      ])
    },
  )

  route.get(
    `${base}/:id`,
    { id: 'getDrift', summary: 'Get a drift', params, data: Drift },
    async ({ deps, params }) => {
      const json = await findDrift(deps.db, params.id)
      if (json === undefined) throw notFound()
      return new JsonText(json)
    },
  )

  route.post(
    `${base}/:id/accept`,
    {
      id: 'acceptDrift',
      summary: 'Accept a drift',
      description:
        'The live value, read again now, becomes the desired one. 409 `drift_not_open` unless it is open, and ' +
        '`resource_gone` when there is no live value any more.',
      permission: 'drift:accept',
      problems: {
        409: {
          drift_not_open: 'The drift is accepted, resolved or stale.',
          resource_gone: 'The resource was deleted.',
        },
      },
      params,
      body: NoBody,
      data: AcceptedDrift,
    },
    async ({ deps, caller, params }) => new JsonText(await acceptDrift(deps, params.id, caller.sub)),
  )
}

const CreateIgnoreRule = Body(
  {
    kind: Type.Optional(Nullable(KindName)),
    resource_id: Type.Optional(Nullable(Id)),
    field: FieldPattern,
    reason: Type.String({ minLength: 1, maxLength: 1000 }),
    expires_at: Type.Optional(Nullable(Time)),
  },
  { title: 'CreateIgnoreRule' },
)

function addIgnoreRules(route: Routes<Deps>): void {
  const base = '/api/v1/drift/ignore-rules'

  route.list(
    base,
    {
      id: 'listIgnoreRules',
      summary: 'List ignore rules',
      description: 'Newest first, expired ones too.',
      items: IgnoreRule,
      cursor: cursorOf('drift_ignore_rules', ['uuid']),
      key,
    },
    ({ deps, limit, after }) => listRules(deps.db, limit, after),
  )

  route.post(
    base,
    {
      id: 'createIgnoreRule',
      summary: 'Create an ignore rule',
      description:
        'For drift of this kind, of this resource, or of all; fields by name or with `*`. From the next sweep on what it ' +
        'covers does not open, and what was open becomes stale; `GET /drift?ignored=true` still lists it.',
      body: CreateIgnoreRule,
      status: 201,
      data: IgnoreRule,
    },
    async ({ deps, caller, body, reply }) => {
      const rule = await createIgnoreRule(deps, body, caller.sub)
      reply.header('location', `${base}/${rule.id}`)
      return rule
    },
  )

  route.get(
    `${base}/:id`,
    { id: 'getIgnoreRule', summary: 'Get an ignore rule', params, data: IgnoreRule },
    async ({ deps, params }) => {
      const rule = await findRule(deps.db, params.id)
      if (!rule) throw notFound()
      return rule
    },
  )

  route.delete(
    `${base}/:id`,
    {
      id: 'deleteIgnoreRule',
      summary: 'Delete an ignore rule',
      description: 'The next sweep opens what it covered and still differs.',
      params,
    },
    async ({ deps, params }) => {
      if ((await IGNORE_RULES.delete(deps.db, { id: params.id })).length === 0) throw notFound()
    },
  )
}

/** A spec’s 64 KiB are those of its shortest spelling: with indentation and escapes it is longer. */
const LARGEST_BODY = 128 * 1024

const SetDesiredState = Body({ spec: Spec }, { title: 'SetDesiredState' })

function addDesiredStates(route: Routes<Deps>): void {
  const path = '/api/v1/inventory/:id/desired-state'

  route.put(
    path,
    {
      id: 'putDesiredState',
      summary: 'Set a desired state',
      description:
        'Says how a resource should look: replaces the whole spec, and adopts a resource that no saga made. A field is ' +
        'looked for among the resource’s own (`name`, `region`, `status`, `tags`, …), then in its `attrs`; one that is ' +
        'in neither has the value null. 422 for what is no state of a resource: `first_seen_at`, `last_seen_at`, ' +
        '`stale_strike_count`, `missing_since`, `deleted_at`, `id`, `provider_id`, and `attrs` as a whole. The same spec again ' +
        'changes nothing. 409 `resource_gone` when the resource is gone.',
      problems: { 409: { resource_gone: 'The resource was deleted.' } },
      params,
      body: SetDesiredState,
      bodyLimit: LARGEST_BODY,
      data: DesiredState,
    },
    ({ deps, params, body }) => setDesiredState(deps, params.id, body.spec),
  )

  route.delete(
    path,
    {
      id: 'deleteDesiredState',
      summary: 'Delete a desired state',
      description: 'Its open drift becomes stale. The resource itself is left alone.',
      params,
    },
    async ({ deps: { db, clock }, params }) => {
      const at = clock.now().toISOString()
      if (!(await transaction(db, tx => dropDesiredState(tx, at, params.id)))) throw notFound()
    },
  )
}
