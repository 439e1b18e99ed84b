// /api/v1/admin/dead_letters: jobs that failed for good, and the way back for them.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Id, Many, NoBody, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { listDeadLetters } from './repository.ts'
import { retryDeadLetter } from './retry-dead-letter.ts'

const config = { guard: 'operator' } as const
const tags = ['Administration']
const base = '/api/v1/admin/dead_letters'

const DeadLetter = Type.Object({
  id: Id,
  queue: Nullable(Type.String({ description: 'Where it failed.' })),
  job: Nullable(Type.String()),
  payload: Type.Unknown(),
  error: Nullable(Type.String()),
  attempts: Type.Integer(),
  sent_at: Nullable(Time),
  failed_at: Time,
})

export function deadLetterRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('dead_letters', ['time', 'uuid'])
  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listDeadLetters',
          summary: 'List the dead letters',
          description:
            'Jobs that failed at their last attempt, newest first. They stay until they are retried.',
          querystring: Query(PageQuery),
          response: { 200: Many(DeadLetter) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const key = cursors.read(cursor)
        const after = key && { failed_at: String(key[0]), id: String(key[1]) }
        const rows = await listDeadLetters(deps.db, limit + 1, after)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.failed_at, row.id]),
        )
      },
    )

    app.post(
      `${base}/:id/retry`,
      {
        config,
        schema: {
          tags,
          operationId: 'retryDeadLetter',
          summary: 'Retry a dead letter',
          description: 'Puts the job back into the queue it came from, with all its attempts before it.',
          params: Type.Object({ id: Id }),
          body: NoBody,
          response: { 204: Type.Null({ description: 'It is queued again.' }) },
        },
      },
      async (request, reply) => {
        await retryDeadLetter(inRequest(deps, request), request.params.id)
        reply.code(204)
        return null
      },
    )
  }
}
