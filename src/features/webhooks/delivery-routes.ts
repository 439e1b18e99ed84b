// The deliveries of a webhook, the platform's or a tenant's, and the test that makes one.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonPage, jsonText } from '../../kernel/http/json.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { Many, NoBody, One } from '../../kernel/http/schemas.ts'
import { listDeliveries, showDelivery } from './delivery-repository.ts'
import type { Queued } from './queue-delivery.ts'
import { replayDelivery } from './replay-delivery.ts'
import { findWebhook } from './repository.ts'
import type { Side } from './routes.ts'
import { DeliveriesQuery, Delivery, DeliveryParams, DeliveryWithAttempts, WebhookParams } from './schemas.ts'
import { testWebhook } from './test-webhook.ts'

const tags = ['Webhooks']

export function deliveryRoutes(deps: Deps, { base, config, named, whose }: Side): FastifyPluginAsyncTypebox {
  const queues = { ...config, problems: { 409: { webhook_disabled: 'The webhook is switched off.' } } }
  const cursors = cursorOf('webhook_deliveries', ['uuid'])
  const queued = (reply: FastifyReply, webhookId: string, { id, json }: Queued) => {
    reply.code(202).header('location', `${base}/${webhookId}/deliveries/${id}`)
    return jsonText(reply, `{"data":${json}}`)
  }

  return async app => {
    app.post(
      `${base}/:id/test`,
      {
        config: queues,
        schema: {
          tags,
          operationId: named('testWebhook'),
          summary: 'Send a webhook a test',
          description:
            'Queues a `webhook.test` event for it. 409 `webhook_disabled` while it is switched off.',
          params: WebhookParams,
          body: NoBody,
          response: { 202: One(DeliveryWithAttempts) },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        return queued(reply, id, await testWebhook(inRequest(deps, request), whose(request), id))
      },
    )

    app.get(
      `${base}/:id/deliveries`,
      {
        config,
        schema: {
          tags,
          operationId: named('listWebhookDeliveries'),
          summary: 'List a webhook’s deliveries',
          description: 'Newest first; kept for 30 days.',
          params: WebhookParams,
          querystring: DeliveriesQuery,
          response: { 200: Many(Delivery) },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        const { limit, cursor, status } = request.query
        const before = (cursors.read(cursor)?.[0] as string | undefined) ?? null
        if (!(await findWebhook(deps.db, whose(request), id))) throw notFound()
        const rows = await listDeliveries(deps.db, id, { status, before, limit: limit + 1 })
        return jsonPage(
          request,
          reply,
          cursors.page(rows, limit, delivery => [delivery.id]),
        )
      },
    )

    app.get(
      `${base}/:id/deliveries/:delivery_id`,
      {
        config,
        schema: {
          tags,
          operationId: named('getWebhookDelivery'),
          summary: 'Show a delivery',
          description: 'With what is sent, and what came of each attempt.',
          params: DeliveryParams,
          response: { 200: One(DeliveryWithAttempts) },
        },
      },
      async (request, reply) => {
        const json = await showDelivery(
          deps.db,
          whose(request),
          request.params.id,
          request.params.delivery_id,
        )
        if (!json) throw notFound()
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.post(
      `${base}/:id/deliveries/:delivery_id/replay`,
      {
        config: queues,
        schema: {
          tags,
          operationId: named('replayWebhookDelivery'),
          summary: 'Deliver an event once more',
          description:
            'A new delivery of the same event under the same `webhook-id`, whatever became of the first. 409 `webhook_disabled` while the webhook is switched off.',
          params: DeliveryParams,
          body: NoBody,
          response: { 202: One(DeliveryWithAttempts) },
        },
      },
      async (request, reply) => {
        const { id, delivery_id } = request.params
        return queued(
          reply,
          id,
          await replayDelivery(inRequest(deps, request), whose(request), id, delivery_id),
        )
      },
    )
  }
}
