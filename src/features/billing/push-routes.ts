// /api/v1/billing/invoices/:id/push

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { NoBody, One } from '../../kernel/http/schemas.ts'
import { shownInvoice } from './finance-status.ts'
import { orderPush } from './order-push.ts'
import { IdParams, Invoice } from './schemas.ts'

export function pushRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  return async app => {
    app.post(
      '/api/v1/billing/invoices/:id/push',
      {
        config: {
          guard: 'operator',
          problems: {
            409: {
              not_ingested: 'The invoice has no lines yet.',
              finance_not_configured: 'There is no finance service.',
            },
          },
        },
        schema: {
          tags: ['Billing'],
          operationId: 'pushInvoice',
          summary: 'Push an invoice to finance',
          description:
            'Queued; also when finance knows the invoice already, which then updates it. 409 `not_ingested` without lines, `finance_not_configured` without a finance service.',
          params: IdParams,
          body: NoBody,
          response: { 202: One(Invoice) },
        },
      },
      async (request, reply) => {
        const invoice = await orderPush(inRequest(deps, request), request.params.id)
        reply.code(202)
        return { data: shownInvoice(invoice) }
      },
    )
  }
}
