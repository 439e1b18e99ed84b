// /api/v1/admin/webhooks

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pagination.ts'
import { Many, NoBody, One, Query } from '../../kernel/http/words.ts'
import { changeWebhook } from './change-webhook.ts'
import { createWebhook } from './create-webhook.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { deleteWebhook, findWebhook, listWebhooks } from './repository.ts'
import { rotateSecret } from './rotate-secret.ts'
import { ChangeBody, CreateBody, Webhook, WebhookParams, WebhookWithSecret } from './schemas.ts'
import type { WebhookKernel } from './webhook-kernel.ts'

const config = { guard: 'platform_admin' } as const
/** A second answer would be a second secret. */
const tags = ['Webhooks']
const base = '/api/v1/admin/webhooks'

export function webhookRoutes(kernel: WebhookKernel): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('webhooks', ['uuid'])

  return async app => {
    await app.register(deliveryRoutes(kernel, base))

    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listWebhooks',
          summary: 'List the webhooks',
          description: 'Newest first.',
          querystring: Query(PageQuery),
          response: { 200: Many(Webhook) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listWebhooks(kernel.db, limit + 1, before ?? null)
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
        config: config,
        schema: {
          tags,
          operationId: 'createWebhook',
          summary: 'Make a webhook',
          description:
            'Events that happen from now on are sent to it, signed by the Standard Webhooks scheme with the `secret` that is shown here once. docs/webhooks.md says how to receive them.',
          body: CreateBody,
          response: { 201: One(WebhookWithSecret) },
        },
      },
      async (request, reply) => {
        const webhook = await createWebhook(inRequest(kernel, request), callerOf(request).sub, request.body)
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
          operationId: 'getWebhook',
          summary: 'Show a webhook',
          params: WebhookParams,
          response: { 200: One(Webhook) },
        },
      },
      async request => {
        const webhook = await findWebhook(kernel.db, request.params.id)
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
          operationId: 'changeWebhook',
          summary: 'Change a webhook',
          description: 'Deliveries that are pending go to the new address.',
          params: WebhookParams,
          body: ChangeBody,
          response: { 200: One(Webhook) },
        },
      },
      async request => ({ data: await changeWebhook(kernel, request.params.id, request.body) }),
    )

    app.delete(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'deleteWebhook',
          summary: 'Delete a webhook',
          description: 'With the record of its deliveries; what is pending is not sent.',
          params: WebhookParams,
          response: { 204: Type.Null({ description: 'The webhook is gone.' }) },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        if (!(await transaction(kernel.db, tx => deleteWebhook(tx, id)))) throw notFound()
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${base}/:id/rotate-secret`,
      {
        config: config,
        schema: {
          tags,
          operationId: 'rotateWebhookSecret',
          summary: 'Rotate a webhook’s secret',
          description:
            'The new secret is shown here once. The old one signs too for 24 hours, so that each message carries two signatures; the one before it no longer does.',
          params: WebhookParams,
          body: NoBody,
          response: { 200: One(WebhookWithSecret) },
        },
      },
      async request => ({ data: await rotateSecret(inRequest(kernel, request), request.params.id) }),
    )
  }
}
