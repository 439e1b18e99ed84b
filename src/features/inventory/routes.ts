// /api/v1/inventory
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { notFound } from '../../kernel/errors.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { jsonPage, jsonText } from '../../kernel/http/json-text.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pagination.ts'
import { Many, One, Query } from '../../kernel/http/words.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { listResources } from './list-resources.ts'
import { AsOf, IdParams, InventoryQuery, Resource, ResourceDetail, ResourceEvent } from './schemas.ts'
import { freshness, listEvents, type ResourceMembers, showResource } from './store.ts'

const config = { guard: 'caller' } as const
const tags = ['Inventory']
const base = '/api/v1/inventory'

export function inventoryRoutes(kernel: Kernel, members: ResourceMembers): FastifyPluginAsyncTypebox {
  const { db } = kernel
  const resources = cursorOf('inventory', ['uuid'])
  const events = cursorOf('resource_events', ['uuid'])

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listResources',
          summary: 'List the resources',
          description:
            'Operators see all tenants, any other caller its own. `as_of` says how fresh each kind is.',
          querystring: InventoryQuery,
          response: { 200: Type.Object({ ...Many(Resource).properties, as_of: AsOf }) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        const after = resources.read(cursor)?.[0] as string | undefined
        const [rows, asOf] = await Promise.all([
          listResources(db, scopeOf(caller), filter, limit + 1, after ?? null),
          freshness(db, filter.kind),
        ])
        return jsonPage(
          request,
          reply,
          resources.page(rows, limit, row => [row.id]),
          `,"as_of":${asOf}`,
        )
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getResource',
          summary: 'Show a resource',
          description:
            'With its latest events, desired state and open drift. A tenant that has the resource from another sees ' +
            'none of these from before; the one that had it gets 404, and still its own part of the events.',
          params: IdParams,
          response: { 200: One(ResourceDetail) },
        },
      },
      async (request, reply) => {
        const json = await showResource(db, scopeOf(callerOf(request)), members, request.params.id)
        if (!json) throw notFound()
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.get(
      `${base}/:id/events`,
      {
        config,
        schema: {
          tags,
          operationId: 'listResourceEvents',
          summary: 'List a resource’s events',
          description:
            'Newest first. A tenant sees those of the time in which the resource was its own, also when it is no longer; ' +
            'the event by which it came shows every `before` as null, and nothing that is null since.',
          params: IdParams,
          querystring: Query(PageQuery),
          response: { 200: Many(ResourceEvent) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = events.read(cursor)?.[0] as string | undefined
        const scope = scopeOf(callerOf(request))
        const rows = await listEvents(db, scope, request.params.id, limit + 1, before ?? null)
        if (!rows) throw notFound()
        return withNextLink(
          request,
          reply,
          events.page(rows, limit, row => [row.id]),
        )
      },
    )
  }
}
