// /api/v1/sagas

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonPage, jsonText } from '../../kernel/http/json.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import type { DeclaredProblems } from '../../kernel/http/problems.ts'
import { Many, NoBody, One } from '../../kernel/http/schemas.ts'
import { cancelSaga } from './cancel-saga.ts'
import { registryOf } from './registry.ts'
import { listRuns, showRun } from './repository.ts'
import { requestSaga } from './request-saga.ts'
import { IdParams, SagaRun, SagaRunWithSteps, SagasQuery, StartSagaBody } from './schemas.ts'
import type { SagaKind } from './step.ts'

const reads = { guard: 'caller' } as const
const runs = { guard: 'operator', permission: 'sagas:run' } as const
const tags = ['Sagas']
const base = '/api/v1/sagas'
/** Inputs are the workflows’ own words; none needs as much. */
const LARGEST_BODY = 64 * 1024

/** `startProblems`: what the kinds refuse to start with. */
export function sagaRoutes(
  deps: Deps,
  kinds: readonly SagaKind[],
  startProblems: DeclaredProblems,
): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('sagas', ['uuid'])
  const registry = registryOf(kinds)
  return async app => {
    app.get(
      base,
      {
        config: reads,
        schema: {
          tags,
          operationId: 'listSagas',
          summary: 'List the runs of workflows',
          description:
            'Newest first, without their steps. A tenant is shown the runs for its own deployments, as `getSaga` shows them.',
          querystring: SagasQuery,
          response: { 200: Many(SagaRun) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        const rows = await listRuns(deps.db, scopeOf(caller), filter, limit + 1, before ?? null)
        return jsonPage(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.post(
      base,
      {
        bodyLimit: LARGEST_BODY,
        config: { ...runs, problems: startProblems },
        schema: {
          tags,
          operationId: 'startSaga',
          summary: 'Start a workflow',
          description:
            'Answers with the new run, or with the run of the same kind that is under way for the same thing.',
          body: StartSagaBody,
          response: { 202: One(SagaRunWithSteps) },
        },
      },
      async (request, reply) => {
        const kind = registry.find(request.body.kind)
        if (!kind) {
          const message =
            registry.names.length > 0 ? `must be one of ${registry.names.join(', ')}` : 'is not known'
          throw invalid('The body is not acceptable.', [{ pointer: '/kind', message }])
        }
        const { sub } = callerOf(request)
        const { id, json } = await requestSaga(inRequest(deps, request), kind, request.body.inputs, sub)
        reply.code(202).header('location', `${base}/${id}`)
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.get(
      `${base}/:id`,
      {
        config: reads,
        schema: {
          tags,
          operationId: 'getSaga',
          summary: 'Show a run with its steps',
          description:
            'A tenant is shown the runs that were started for its deployments: what was ordered and how each step went. `context`, `output` and the words of `reason` and `error` are the operator’s.',
          params: IdParams,
          response: { 200: One(SagaRunWithSteps) },
        },
      },
      async (request, reply) => {
        const json = await showRun(deps.db, scopeOf(callerOf(request)), request.params.id)
        if (!json) throw notFound()
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.post(
      `${base}/:id/cancel`,
      {
        config: { ...runs, problems: { 409: { saga_ended: 'The run has ended.' } } },
        schema: {
          tags,
          operationId: 'cancelSaga',
          summary: 'Cancel a run',
          description:
            'The run turns back before its next step and undoes what was done; a cancel during the last step comes too late. 409 `saga_ended` when it has ended.',
          params: IdParams,
          body: NoBody,
          response: { 202: One(SagaRunWithSteps) },
        },
      },
      async (request, reply) => {
        const json = await cancelSaga(inRequest(deps, request), request.params.id, callerOf(request).sub)
        reply.code(202).header('location', `${base}/${request.params.id}`)
        return jsonText(reply, `{"data":${json}}`)
      },
    )
  }
}
