// /api/v1/admin/webhooks, the platform's own, and /api/v1/webhooks, those of tenants: the same routes, and the same
// statements behind them, for two sets of webhooks.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import type { Guard } from '../../kernel/http/caller.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pages.ts'
import type { DeclaredProblems } from '../../kernel/http/problems.ts'
import { Many, NoBody, One } from '../../kernel/http/schemas.ts'
import { changeWebhook } from './change-webhook.ts'
import { type CreateWebhook, createWebhook, MOST_OF_ONE_TENANT } from './create-webhook.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { deleteWebhook, findWebhook, listWebhooks, type Whose } from './repository.ts'
import { rotateSecret } from './rotate-secret.ts'
import {
  type Bodies,
  platformBodies,
  tenantBodies,
  Webhook,
  WebhookParams,
  WebhooksQuery,
  WebhookWithSecret,
} from './schemas.ts'

/** One of the two sets. */
export interface Side extends Bodies {
  base: string
  config: { guard: Guard }
  /** The operations' ids: those of tenants say `Own`. */
  named(operationId: string): string
  /** Which webhooks of the set this caller may touch. */
  whose(request: FastifyRequest): Whose
  /** Whose a new one is. */
  ownerOf(request: FastifyRequest, wish: CreateWebhook): string | null
  /** What is said of the set, and what refuses a new one. */
  about: string
  createProblems: DeclaredProblems
}

const platforms: Side = {
  ...platformBodies,
  base: '/api/v1/admin/webhooks',
  config: { guard: 'platform_admin' },
  named: id => id,
  whose: () => 'platform',
  ownerOf: () => null,
  about: 'The platform’s own; those of tenants are at `/webhooks`.',
  createProblems: {},
}

const tenants: Side = {
  ...tenantBodies,
  base: '/api/v1/webhooks',
  config: { guard: 'caller' },
  named: id => id.replace('Webhook', 'OwnWebhook'),
  whose: request => scopeOf(callerOf(request)),
  ownerOf: tenantFor,
  about: 'Of the caller’s tenant, and told of that tenant alone.',
  createProblems: { 409: { webhook_limit: `The tenant has ${MOST_OF_ONE_TENANT} webhooks already.` } },
}

function tenantFor(request: FastifyRequest, { tenant_id }: CreateWebhook): string {
  const caller = callerOf(request)
  const tenant = tenant_id ?? caller.tenantId
  if (tenant === null)
    throw invalid('The body is not acceptable.', [
      { pointer: '/tenant_id', message: 'is required: the token names no tenant' },
    ])
  if (!scopeOf(caller).allTenants && tenant !== caller.tenantId)
    throw forbidden('A webhook can be made for your own tenant only.')
  return tenant
}

const tags = ['Webhooks']

export const webhookRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async app => {
    for (const side of [platforms, tenants]) {
      await app.register(routesOf(deps, side))
      await app.register(deliveryRoutes(deps, side))
    }
  }

function routesOf(deps: Deps, side: Side): FastifyPluginAsyncTypebox {
  const { base, config, named, whose, about } = side
  const cursors = cursorOf('webhooks', ['uuid'])

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: named('listWebhooks'),
          summary: 'List the webhooks',
          description: `Newest first. ${about}`,
          querystring: WebhooksQuery,
          response: { 200: Many(Webhook) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, tenant_id } = request.query
        refuseForeignTenant(callerOf(request), tenant_id)
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listWebhooks(deps.db, whose(request), tenant_id, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, webhook => [webhook.id]),
        )
      },
    )

    app.post(
      base,
      {
        config: { ...config, problems: side.createProblems },
        schema: {
          tags,
          operationId: named('createWebhook'),
          summary: 'Make a webhook',
          description: `Events that happen from now on are sent to it, signed by the Standard Webhooks scheme with the \`secret\` that is shown here once. docs/webhooks.md says how to receive them. ${about}`,
          body: side.CreateBody,
          response: { 201: One(WebhookWithSecret) },
        },
      },
      async (request, reply) => {
        const owner = side.ownerOf(request, request.body)
        const { sub } = callerOf(request)
        const webhook = await createWebhook(inRequest(deps, request), sub, owner, request.body)
        reply.code(201).header('location', `${base}/${webhook.id}`)
        return { data: webhook }
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: named('getWebhook'),
          summary: 'Show a webhook',
          params: WebhookParams,
          response: { 200: One(Webhook) },
        },
      },
      async request => {
        const webhook = await findWebhook(deps.db, whose(request), request.params.id)
        if (!webhook) throw notFound()
        return { data: webhook }
      },
    )

    app.patch(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: named('changeWebhook'),
          summary: 'Change a webhook',
          description: 'Deliveries that are pending go to the new address.',
          params: WebhookParams,
          body: side.ChangeBody,
          response: { 200: One(Webhook) },
        },
      },
      async request => ({
        data: await changeWebhook(deps, whose(request), request.params.id, request.body),
      }),
    )

    app.delete(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: named('deleteWebhook'),
          summary: 'Delete a webhook',
          description: 'With the record of its deliveries; what is pending is not sent.',
          params: WebhookParams,
          response: { 204: Type.Null({ description: 'The webhook is gone.' }) },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        if (!(await transaction(deps.db, tx => deleteWebhook(tx, whose(request), id)))) throw notFound()
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${base}/:id/rotate-secret`,
      {
        config,
        schema: {
          tags,
          operationId: named('rotateWebhookSecret'),
          summary: 'Rotate a webhook’s secret',
          description:
            'The new secret is shown here once. The old one signs too for 24 hours, so that each message carries two signatures; the one before it no longer does.',
          params: WebhookParams,
          body: NoBody,
          response: { 200: One(WebhookWithSecret) },
        },
      },
      async request => ({
        data: await rotateSecret(inRequest(deps, request), whose(request), request.params.id),
      }),
    )
  }
}
