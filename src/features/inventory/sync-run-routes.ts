// /api/v1/inventory/sync-runs
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pagination.ts'
import { Many, NoBody, One } from '../../kernel/http/words.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { confirmHeldDeletions } from './actions.ts'
import { IdParams, SyncRun, SyncRunsQuery } from './schemas.ts'
import { findSyncRun, listSyncRuns } from './sync-run-store.ts'

const config = { guard: 'operator' } as const
const tags = ['Inventory']
const base = '/api/v1/inventory/sync-runs'

export function syncRunRoutes(kernel: Kernel): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('sync_runs', ['uuid'])
  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listSyncRuns',
          summary: 'List the sweeps',
          description: 'One record for each kind of each sweep, newest first.',
          querystring: SyncRunsQuery,
          response: { 200: Many(SyncRun) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listSyncRuns(kernel.db, filter, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getSyncRun',
          summary: 'Show a sweep of a kind',
          params: IdParams,
          response: { 200: One(SyncRun) },
        },
      },
      async request => {
        const run = await findSyncRun(kernel.db, request.params.id)
        if (!run) throw notFound()
        return { data: run }
      },
    )

    app.post(
      `${base}/:id/confirm`,
      {
        config: {
          ...config,
          problems: {
            409: {
              nothing_held: 'The run holds no deletions.',
              already_confirmed: 'They were confirmed before.',
              superseded: 'A newer sweep of this kind has run.',
            },
          },
        },
        schema: {
          tags,
          operationId: 'confirmHeldDeletions',
          summary: 'Confirm held deletions',
          description:
            'Deletes what the brake held and no one has seen since. 409 `nothing_held`, `already_confirmed` or `superseded`.',
          params: IdParams,
          body: NoBody,
          response: { 200: One(SyncRun) },
        },
      },
      async request => ({
        data: await confirmHeldDeletions(
          inRequest(kernel, request),
          request.params.id,
          callerOf(request).sub,
        ),
      }),
    )
  }
}
