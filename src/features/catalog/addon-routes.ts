// /api/v1/catalog/addons

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import { findAddons, listAddons } from './addon-repository.ts'
import { changeAddon } from './change-addon.ts'
import { createAddon } from './create-addon.ts'
import { base, reads, tags, writes } from './route-configs.ts'
import { Addon, AddonParams, ChangeAddonBody, CreateAddonBody } from './schemas.ts'

export function addonRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const addons = cursorOf('addons', ['text'])
  return async app => {
    app.get(
      `${base}/addons`,
      {
        config: reads,
        schema: {
          tags,
          operationId: 'listAddons',
          summary: 'List the addons',
          description: 'By code.',
          querystring: Query(PageQuery),
          response: { 200: Many(Addon) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const after = addons.read(cursor)?.[0] as string | undefined
        const rows = await listAddons(deps.db, limit + 1, after ?? null)
        return withNextLink(
          request,
          reply,
          addons.page(rows, limit, row => [row.code]),
        )
      },
    )

    app.get(
      `${base}/addons/:code`,
      {
        config: reads,
        schema: {
          tags,
          operationId: 'getAddon',
          summary: 'Show an addon',
          params: AddonParams,
          response: { 200: One(Addon) },
        },
      },
      async request => {
        const [addon] = await findAddons(deps.db, [request.params.code])
        if (!addon) throw notFound()
        return { data: addon }
      },
    )

    app.post(
      `${base}/addons`,
      {
        config: { ...writes, problems: { 409: { addon_code_taken: 'There is an addon of that code.' } } },
        schema: {
          tags,
          operationId: 'createAddon',
          summary: 'Create an addon',
          description: '409 `addon_code_taken`.',
          body: CreateAddonBody,
          response: { 201: One(Addon) },
        },
      },
      async (request, reply) => {
        const addon = await createAddon(inRequest(deps, request), request.body)
        reply.code(201).header('location', `${base}/addons/${addon.code}`)
        return { data: addon }
      },
    )

    app.patch(
      `${base}/addons/:code`,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'changeAddon',
          summary: 'Change an addon',
          description: 'What was attached to a subscription before stays as it was.',
          params: AddonParams,
          body: ChangeAddonBody,
          response: { 200: One(Addon) },
        },
      },
      async request => ({ data: await changeAddon(deps, request.params.code, request.body) }),
    )
  }
}
