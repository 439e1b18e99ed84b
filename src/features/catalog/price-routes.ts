// /api/v1/catalog/resource-prices, for a platform_admin.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One } from '../../kernel/http/schemas.ts'
import { addResourcePrice, type PriceGuard } from './add-resource-price.ts'
import { endResourcePrice } from './end-resource-price.ts'
import { findPrice, listPrices, type PriceKey } from './price-repository.ts'
import { base, tags, writes } from './route-configs.ts'
import { AddPriceBody, EndPriceBody, PriceParams, PricesQuery, ResourcePrice } from './schemas.ts'

const prices = `${base}/resource-prices`
const config = {
  ...writes,
  problems: {
    409: {
      price_overlap: 'Another price of the same kind, unit and currency holds on one of those days.',
      month_finished: 'It would change what was charged for in a month that is over.',
    },
  },
}

export function priceRoutes(deps: Deps, guard: PriceGuard): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('resource_prices', ['text', 'text', 'text', 'text'])
  return async app => {
    app.get(
      prices,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'listResourcePrices',
          summary: 'List the resource prices',
          description: 'Per unit, for what no plan covers; by kind, unit, currency and first day.',
          querystring: PricesQuery,
          response: { 200: Many(ResourcePrice) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const after = cursors.read(cursor) as PriceKey | null
        const rows = await listPrices(deps.db, filter, limit + 1, after)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.resource_kind, row.unit, row.currency, row.effective_from]),
        )
      },
    )

    app.get(
      `${prices}/:id`,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'getResourcePrice',
          summary: 'Show a resource price',
          params: PriceParams,
          response: { 200: One(ResourcePrice) },
        },
      },
      async request => {
        const price = await findPrice(deps.db, request.params.id)
        if (!price) throw notFound()
        return { data: price }
      },
    )

    app.post(
      prices,
      {
        config,
        schema: {
          tags,
          operationId: 'createResourcePrice',
          summary: 'Add a resource price',
          description:
            'It holds from `effective_from` to the day before `effective_to`. 409 `price_overlap` when another of the ' +
            'same kind, unit and currency holds on one of those days, `month_finished` when a month that is over, and in ' +
            'which something of the kind was metered, would have another price.',
          body: AddPriceBody,
          response: { 201: One(ResourcePrice) },
        },
      },
      async (request, reply) => {
        const price = await addResourcePrice(inRequest(deps, request), guard, request.body)
        reply.code(201).header('location', `${prices}/${price.id}`)
        return { data: price }
      },
    )

    app.patch(
      `${prices}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'endResourcePrice',
          summary: 'End a resource price',
          description:
            'Sets or moves `effective_to`, so that another price can follow. Nothing else of it changes. 409 `price_overlap` ' +
            'and `month_finished` as for a new one.',
          params: PriceParams,
          body: EndPriceBody,
          response: { 200: One(ResourcePrice) },
        },
      },
      async request => ({
        data: await endResourcePrice(deps, guard, request.params.id, request.body.effective_to),
      }),
    )
  }
}
