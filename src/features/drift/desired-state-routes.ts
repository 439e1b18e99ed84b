// /api/v1/inventory/:id/desired-state, for operators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { One } from '../../kernel/http/schemas.ts'
import { adoptResource } from './adopt-resource.ts'
import { DesiredState, DesiredStateBody, IdParams } from './schemas.ts'
import { dropDesiredState } from './write-desired-state.ts'

const config = { guard: 'operator' } as const
const tags = ['Drift']
/** A spec’s 64 KiB are those of its shortest spelling: indented and with escapes it is longer. */
const LARGEST_BODY = 128 * 1024
const path = '/api/v1/inventory/:id/desired-state'

export function desiredStateRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { db, clock } = deps
  return async app => {
    app.put(
      path,
      {
        bodyLimit: LARGEST_BODY,
        config: { ...config, problems: { 409: { resource_gone: 'The resource was deleted.' } } },
        schema: {
          tags,
          operationId: 'putDesiredState',
          summary: 'Say how a resource should look',
          description:
            'Replaces the whole spec, and adopts a resource that no saga made. A field is looked for among the ' +
            'resource’s own (`name`, `region`, `status`, `tags`, …), then in its `attrs`; one that is in neither has ' +
            'the value null. 422 for what is no state of a resource: `first_seen_at`, `last_seen_at`, ' +
            '`stale_strike_count`, `deleted_at`, `id`, `provider_id`, and `attrs` as a whole. The same spec again ' +
            'changes nothing. 409 `resource_gone` when the resource is gone.',
          params: IdParams,
          body: DesiredStateBody,
          response: { 200: One(DesiredState) },
        },
      },
      async request => ({ data: await adoptResource(deps, request.params.id, request.body.spec) }),
    )

    app.delete(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'deleteDesiredState',
          summary: 'Desire nothing of a resource any more',
          description: 'Its open drift becomes stale. The resource itself is left alone.',
          params: IdParams,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const at = clock.now().toISOString()
        if (!(await transaction(db, tx => dropDesiredState(tx, at, request.params.id)))) throw notFound()
        return reply.code(204).send(null)
      },
    )
  }
}
