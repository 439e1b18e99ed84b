// /api/v1/drift, for operators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonPage, jsonText } from '../../kernel/http/json.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { Many, NoBody, One } from '../../kernel/http/schemas.ts'
import { acceptDrift } from './accept-drift.ts'
import { desiredStateRoutes } from './desired-state-routes.ts'
import { ignoreRuleRoutes } from './ignore-rule-routes.ts'
import { findDrift, listDrift, listIgnored } from './repository.ts'
import { AcceptedDrift, Drift, DriftQuery, IdParams } from './schemas.ts'

const config = { guard: 'operator' } as const
const tags = ['Drift']
const base = '/api/v1/drift'

export function driftRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { db } = deps
  const drifts = cursorOf('drift', ['uuid'])
  const ignoredDrifts = cursorOf('drift_ignored', ['uuid'])

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listDrift',
          summary: 'List drift',
          description: 'What is open, unless another status is asked for. Newest first.',
          querystring: DriftQuery,
          response: { 200: Many(Drift) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ignored, status, ...filter } = request.query
        if (ignored && status !== undefined)
          throw invalid('The query is not acceptable.', [
            { pointer: '?status', message: 'cannot be asked for together with ignored' },
          ])
        const cursors = ignored ? ignoredDrifts : drifts
        const before = (cursors.read(cursor)?.[0] as string | undefined) ?? null
        const rows = ignored
          ? await listIgnored(db, filter, limit + 1, before)
          : await listDrift(db, { status: status ?? 'open', ...filter }, limit + 1, before)
        return jsonPage(
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
          operationId: 'getDrift',
          summary: 'Show a drift',
          params: IdParams,
          response: { 200: One(Drift) },
        },
      },
      async (request, reply) => {
        const json = await findDrift(db, request.params.id)
        if (!json) throw notFound()
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.post(
      `${base}/:id/accept`,
      {
        config: {
          ...config,
          permission: 'drift:accept',
          problems: {
            409: {
              drift_not_open: 'The drift is accepted, resolved or stale.',
              resource_gone: 'The resource was deleted.',
            },
          },
        },
        schema: {
          tags,
          operationId: 'acceptDrift',
          summary: 'Accept a drift',
          description:
            'The live value, read again now, becomes the desired one. 409 `drift_not_open` unless it is open, and ' +
            '`resource_gone` when there is no live value any more.',
          params: IdParams,
          body: NoBody,
          response: { 200: One(AcceptedDrift) },
        },
      },
      async (request, reply) => {
        const { json, spec_version } = await acceptDrift(
          inRequest(deps, request),
          request.params.id,
          callerOf(request).sub,
        )
        return jsonText(reply, `{"data":${json.slice(0, -1)},"spec_version":${spec_version}}}`)
      },
    )

    await ignoreRuleRoutes(deps)(app, {})
    await desiredStateRoutes(deps)(app, {})
  }
}
