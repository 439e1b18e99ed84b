// /api/v1/deployments
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { notFound } from '../../kernel/errors.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonPage, jsonText } from '../../kernel/http/json.ts'
import { cursorOf, PageQuery } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { ChangePlanVersionBody, PlanChange, SubscribeBody, Subscription } from '../subscriptions/index.ts'
import { createDeployment } from './create-deployment.ts'
import { allowedTransitions, OPERATE } from './lifecycle.ts'
import { isInScope, listDeployments, listEvents, showDeployment } from './repository.ts'
import {
  CreateDeploymentBody,
  Deployment,
  DeploymentDetail,
  DeploymentEvent,
  DeploymentsQuery,
  IdParams,
  MovedDeployment,
  TransitionBody,
  UpdateDeploymentBody,
} from './schemas.ts'
import { changeDeploymentPlan, subscribeDeployment } from './subscribe-deployment.ts'
import { moverOf, transitionDeployment } from './transition-deployment.ts'
import { updateDeployment } from './update-deployment.ts'

const config = { guard: 'caller' } as const
const tags = ['Deployments']
const base = '/api/v1/deployments'

export function deploymentRoutes(kernel: Kernel): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('deployments', ['uuid'])
  const events = cursorOf('deployment_events', ['uuid'])
  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listDeployments',
          summary: 'List the deployments',
          description: 'Operators see all tenants, any other caller its own.',
          querystring: DeploymentsQuery,
          response: { 200: Many(Deployment) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        const after = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listDeployments(kernel.db, scopeOf(caller), filter, limit + 1, after ?? null)
        return jsonPage(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.post(
      base,
      {
        config: {
          ...config,
          problems: { 409: { slug_taken: 'The tenant has a deployment of that slug.' } },
        },
        schema: {
          tags,
          operationId: 'createDeployment',
          summary: 'Create a deployment',
          description: 'It starts in `active`. 409 `slug_taken` when the tenant has one of that slug.',
          body: CreateDeploymentBody,
          response: { 201: One(Deployment) },
        },
      },
      async (request, reply) => {
        const data = await createDeployment(inRequest(kernel, request), callerOf(request), request.body)
        reply.code(201).header('location', `${base}/${data.id}`)
        return { data }
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getDeployment',
          summary: 'Show a deployment',
          description: 'With its subscription and its latest events.',
          params: IdParams,
          response: { 200: One(DeploymentDetail) },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request)
        const parts = await showDeployment(kernel.db, scopeOf(caller), request.params.id)
        if (!parts) throw notFound()
        const { state, held, deployment, subscription, events } = parts
        const allowed = JSON.stringify(allowedTransitions(state, moverOf(caller), held))
        const more = `,"allowed_transitions":${allowed},"subscription":${subscription},"events":${events}`
        return jsonText(reply, `{"data":${withMembers(deployment, more)}}`)
      },
    )

    app.get(
      `${base}/:id/events`,
      {
        config,
        schema: {
          tags,
          operationId: 'listDeploymentEvents',
          summary: 'List a deployment’s events',
          description: 'Every move between states, newest first.',
          params: IdParams,
          querystring: Query(PageQuery),
          response: { 200: Many(DeploymentEvent) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const { id } = request.params
        const before = events.read(cursor)?.[0] as string | undefined
        if (!(await isInScope(kernel.db, scopeOf(callerOf(request)), id))) throw notFound()
        const rows = await listEvents(kernel.db, id, limit + 1, before ?? null)
        return jsonPage(
          request,
          reply,
          events.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.patch(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'changeDeployment',
          summary: 'Change a deployment',
          description:
            '`billing_action_suspended` is for operators with `deployments:operate`: while it is set, the deployment does not become `past_due` or `suspended`. Who set it, when and why is shown beside it, until it is cleared.',
          params: IdParams,
          body: UpdateDeploymentBody,
          response: { 200: One(Deployment) },
        },
      },
      async request => ({
        data: await updateDeployment(kernel, callerOf(request), request.params.id, request.body),
      }),
    )

    app.post(
      `${base}/:id/transition`,
      {
        config: {
          ...config,
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
        },
        schema: {
          tags,
          operationId: 'transitionDeployment',
          summary: 'Move a deployment to another state',
          description:
            'A tenant pauses, resumes, cancels and archives its own; moves into and out of `past_due` and `suspended` are for operators with `deployments:operate`, others get 403 `operator_only`. A suspended or past-due deployment may still be cancelled. 422 `invalid_transition` when there is no such move; both name those that you may make. 409 `billing_action_suspended` for moves to `past_due` and `suspended` while that is set, `state_changed` when another move came first.',
          params: IdParams,
          body: TransitionBody,
          response: { 200: One(MovedDeployment) },
        },
      },
      async (request, reply) => {
        const { deployment, event, allowed } = await transitionDeployment(
          inRequest(kernel, request),
          callerOf(request),
          request.params.id,
          request.body,
        )
        const more = `,"allowed_transitions":${JSON.stringify(allowed)},"event":${event}`
        return jsonText(reply, `{"data":${withMembers(deployment, more)}}`)
      },
    )

    app.post(
      `${base}/:id/subscribe`,
      {
        config: {
          ...config,
          problems: { 409: { already_subscribed: 'The deployment has a subscription.' } },
        },
        schema: {
          tags,
          operationId: 'subscribeDeployment',
          summary: 'Subscribe a deployment to a plan',
          description:
            'Binds it to the plan’s active version and copies price and quantity of the addons. 409 `already_subscribed`.',
          params: IdParams,
          body: SubscribeBody,
          response: { 201: One(Subscription) },
        },
      },
      async (request, reply) => {
        const json = await subscribeDeployment(
          inRequest(kernel, request),
          callerOf(request),
          request.params.id,
          request.body,
        )
        reply.code(201).header('location', `${base}/${request.params.id}`)
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.post(
      `${base}/:id/change-plan-version`,
      {
        config: { ...config, problems: { 409: { not_subscribed: 'The deployment has no subscription.' } } },
        schema: {
          tags,
          operationId: 'changePlanVersion',
          summary: 'Move the subscription to another plan version',
          description:
            'From now on: the running month is priced by what holds at its end, months that are over stay as they are. With ' +
            '`preview: true` it says what would change, in cents, and changes nothing. Addons keep what was agreed.',
          params: IdParams,
          body: ChangePlanVersionBody,
          response: { 200: One(PlanChange) },
        },
      },
      async (request, reply) =>
        jsonText(
          reply,
          `{"data":${await changeDeploymentPlan(inRequest(kernel, request), callerOf(request), request.params.id, request.body)}}`,
        ),
    )
  }
}

/** Adds members to the end of an object that is JSON text. */
const withMembers = (object: string, members: string): string => `${object.slice(0, -1)}${members}}`
