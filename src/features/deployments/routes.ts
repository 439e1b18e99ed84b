// /api/v1/deployments
import { type TProperties, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { refuseForeignTenant } from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, Nullable } from '../../kernel/http/schemas.ts'
import { type Books, DayOrTime } from '../subscriptions/index.ts'
import { createDeployment, updateDeployment } from './actions.ts'
import {
  Deployment,
  DeploymentDetail,
  DeploymentEvent,
  Lifecycle,
  MovedDeployment,
  State,
} from './deployment.ts'
import { allowedTransitions, describedLifecycle, type Mover, OPERATE, STATES } from './lifecycle.ts'
import { findDeployment, listDeployments, listEvents, showDeployment } from './store.ts'
import { moverOf, transitionDeployment } from './transition.ts'

const Slug = Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' })
const ShortSlug = Type.String({ pattern: '^[a-z0-9]([a-z0-9_-]{0,30}[a-z0-9])?$' })
const DisplayName = Type.String({ minLength: 1, maxLength: 255 })
const Reason = Type.String({ minLength: 1, maxLength: 1000 })
const Template = Type.String({ minLength: 1, maxLength: 128 })

const CreateDeployment = Body({
  slug: Type.String({ ...Slug, description: 'Unique for the tenant.' }),
  tenant_id: Type.Optional(
    Type.String({
      ...ExternalId,
      description: 'Default: the caller’s. Operators may name any tenant.',
    }),
  ),
  display_name: Type.Optional(Type.String({ ...DisplayName, description: 'Default: the slug.' })),
  region: Type.Optional(Type.String({ ...ShortSlug, default: 'nyc3' })),
  llm_mode: Type.Optional(Type.String({ ...ShortSlug, default: 'standard' })),
  template_code: Type.Optional(Nullable(Template)),
  template_version: Type.Optional(Nullable(Template)),
  created_at: Type.Optional(
    Type.String({
      ...DayOrTime,
      description:
        'For a platform_admin: a day or a time in the past since which it has been there, not in a month that is closed. Default: now.',
    }),
  ),
})

const UpdateDeployment = Body({
  display_name: Type.Optional(DisplayName),
  template_code: Type.Optional(Nullable(Template)),
  template_version: Type.Optional(Nullable(Template)),
  billing_action_suspended: Type.Optional(
    Type.Boolean({ description: 'For operators: holds moves to `past_due` and `suspended` off.' }),
  ),
  billing_action_suspended_reason: Type.Optional(
    Nullable(Type.String({ ...Reason, description: 'Why; beside `billing_action_suspended: true`.' })),
  ),
})

const TransitionBody = Body({ state: State, reason: Type.Optional(Nullable(Reason)) })

const FILTERS = {
  state: Type.Optional(State),
  region: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  slug: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  tenant_id: Type.Optional(
    Type.String({ ...ExternalId, description: 'For operators; others see their own.' }),
  ),
} satisfies TProperties

const params = Type.Object({ id: Id })
const base = '/api/v1/deployments'

/** State → where a mover may go from there, as JSON. */
const movesOf = (mover: Mover, suspended: boolean): string =>
  JSON.stringify(
    Object.fromEntries(STATES.map(state => [state, allowedTransitions(state, mover, suspended)])),
  )
const allMovesOf = (mover: Mover) => ({
  allowed: movesOf(mover, false),
  allowedIfSuspended: movesOf(mover, true),
})
const MOVES: Record<Mover, ReturnType<typeof allMovesOf>> = {
  operator: allMovesOf('operator'),
  tenant: allMovesOf('tenant'),
  nobody: allMovesOf('nobody'),
}

const LIFECYCLE_SHOWN = describedLifecycle()

export const deploymentRoutes = (deps: Deps, books: Pick<Books, 'openFrom'>) =>
  routes({ ...deps, books }, { tag: 'Deployments', guard: 'caller' }, route => {
    route.list(
      base,
      {
        id: 'listDeployments',
        summary: 'List deployments',
        description: 'Operators see all tenants, any other caller its own.',
        filters: FILTERS,
        items: Deployment,
        cursor: cursorOf('deployments', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listDeployments(deps.db, scope, filter, limit, after)
      },
    )

    route.post(
      base,
      {
        id: 'createDeployment',
        summary: 'Create a deployment',
        description: 'It starts in `active`. 409 `slug_taken` when the tenant has one of that slug.',
        problems: {
          409: {
            slug_taken: 'The tenant has a deployment of that slug.',
            month_closed: 'The statements of that month are written.',
          },
        },
        body: CreateDeployment,
        status: 201,
        data: Deployment,
      },
      async ({ deps, caller, body, reply }) => {
        const deployment = await createDeployment(deps, caller, body)
        reply.header('location', `${base}/${deployment.id}`)
        return deployment
      },
    )

    route.get(
      `${base}/lifecycle`,
      {
        id: 'getDeploymentLifecycle',
        summary: 'Get the states of deployments and the moves between them',
        description:
          'The same for all deployments; `allowed_transitions` of one says where you may move it now.',
        data: Lifecycle,
      },
      () => LIFECYCLE_SHOWN,
    )

    route.get(
      `${base}/:id`,
      {
        id: 'getDeployment',
        summary: 'Get a deployment',
        description: 'With its subscription and its latest events.',
        params,
        data: DeploymentDetail,
      },
      async ({ caller, scope, params }) => {
        const now = await deps.tenantTime.ofDeployment(deps.db, params.id)
        const json = await showDeployment(deps.db, scope, params.id, MOVES[moverOf(caller)], now)
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.list(
      `${base}/:id/events`,
      {
        id: 'listDeploymentEvents',
        summary: 'List the events of a deployment',
        description: 'Every move between states, newest first.',
        params,
        items: DeploymentEvent,
        cursor: cursorOf('deployment_events', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ scope, params, limit, after }) => {
        if (!(await findDeployment(deps.db, scope, params.id))) throw notFound()
        return listEvents(deps.db, params.id, limit, after && String(after[0]))
      },
    )

    route.patch(
      `${base}/:id`,
      {
        id: 'changeDeployment',
        summary: 'Update a deployment',
        description:
          '`billing_action_suspended` is for operators with `deployments:operate`: while it is set, the deployment does not become `past_due` or `suspended`. Who set it, when and why is shown beside it, until it is cleared.',
        params,
        body: UpdateDeployment,
        data: Deployment,
      },
      ({ deps, caller, params, body }) => updateDeployment(deps, caller, params.id, body),
    )

    route.post(
      `${base}/:id/transition`,
      {
        id: 'transitionDeployment',
        summary: 'Move a deployment to another state',
        description:
          'A tenant pauses, resumes, cancels and archives its own; moves into and out of `past_due` and `suspended` are for operators with `deployments:operate`, others get 403 `operator_only`. A suspended or past-due deployment may still be cancelled. 422 `invalid_transition` when there is no such move; both name those that you may make. 409 `billing_action_suspended` for moves to `past_due` and `suspended` while that is set, `state_changed` when another move came first.',
        permissionInstead: OPERATE,
        problems: {
          403: { operator_only: 'The move is for operators; `allowed_transitions` names yours.' },
          409: {
            state_changed: 'Another move came first.',
            billing_action_suspended: 'Moves to `past_due` and `suspended` are held off.',
          },
          422: {
            invalid_transition: 'The map has no such move; `allowed_transitions` names those it has.',
          },
        },
        params,
        body: TransitionBody,
        data: MovedDeployment,
      },
      async ({ deps, caller, params, body }) => {
        const { deployment, event, allowed } = await transitionDeployment(deps, caller, params.id, body)
        return { ...JSON.parse(deployment), allowed_transitions: allowed, event }
      },
    )
  })
