// /api/v1/sagas
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { refuseForeignTenant } from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import type { DeclaredProblems } from '../../kernel/http/problems.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, NoBody, Query } from '../../kernel/http/schemas.ts'
import { cancelSaga, requestSaga } from './actions.ts'
import { SagaRun, SagaRunWithSteps, SagaStep, Status } from './saga.ts'
import { type Json, registryOf, type SagaKind } from './step.ts'
import { listRuns, listSteps, runExists, showRun } from './store.ts'

const StartSaga = Body(
  {
    kind: Type.String({ minLength: 1, maxLength: 64, description: 'Which workflow.' }),
    inputs: Type.Unsafe<Json>({
      type: 'object',
      additionalProperties: true,
      description: 'As the workflow wants them.',
    }),
  },
  { title: 'StartSaga' },
)

const FILTERS = {
  status: Type.Optional(Status),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  deployment_id: Type.Optional(Id),
  tenant_id: Type.Optional(ExternalId),
}

const params = Type.Object({ id: Id })
const base = '/api/v1/sagas'
const operators = { guard: 'operator', permission: 'sagas:run' } as const
/** No workflow's inputs need as much. */
const LARGEST_BODY = 64 * 1024

/** `startProblems`: what the kinds refuse to start with. */
export function sagaRoutes(deps: Deps, kinds: readonly SagaKind[], startProblems: DeclaredProblems) {
  const registry = registryOf(kinds)
  return routes(deps, { tag: 'Sagas', guard: 'caller' }, route => {
    route.list(
      base,
      {
        id: 'listSagas',
        summary: 'List saga runs',
        description:
          'Newest first, without their steps. A tenant is shown the runs for its own deployments, as `getSaga` shows them.',
        filters: FILTERS,
        items: SagaRun,
        cursor: cursorOf('sagas', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listRuns(deps.db, scope, filter, limit, after)
      },
    )

    route.post(
      base,
      {
        id: 'startSaga',
        summary: 'Start a saga',
        description:
          'Answers with the new run, or with the run of the same kind that is under way for the same thing.',
        ...operators,
        problems: startProblems,
        bodyLimit: LARGEST_BODY,
        body: StartSaga,
        status: 202,
        data: SagaRunWithSteps,
      },
      async ({ deps, caller, body, reply }) => {
        const kind = registry.find(body.kind)
        if (!kind) {
          const message =
            registry.names.length > 0 ? `must be one of ${registry.names.join(', ')}` : 'is not known'
          throw invalid('The body is not acceptable.', [{ pointer: '/kind', message }])
        }
        const { id, json } = await requestSaga(deps, kind, body.inputs, caller.sub)
        reply.header('location', `${base}/${id}`)
        return new JsonText(json)
      },
    )

    route.get(
      `${base}/:id`,
      {
        id: 'getSaga',
        summary: 'Get a saga run with its steps',
        description:
          'A tenant is shown the runs that were started for its deployments: what was ordered and how each step went. `context`, `output`, `actor` and the words of `reason` and `error` are the operator’s.',
        params,
        query: Query({
          steps: Type.Boolean({
            default: true,
            description: 'False leaves `steps` empty; `/sagas/:id/steps` pages through them.',
          }),
        }),
        data: SagaRunWithSteps,
      },
      async ({ scope, params, query }) => {
        const json = await showRun(deps.db, scope, params.id, query.steps)
        if (!json) throw notFound()
        return new JsonText(json)
      },
    )

    route.list(
      `${base}/:id/steps`,
      {
        id: 'listSagaSteps',
        summary: 'List the steps of a saga run',
        description: 'Those that were begun, in order, as `getSaga` shows them: for runs with very many.',
        params,
        filters: {
          from: Type.Integer({
            minimum: 0,
            maximum: 2_147_483_647,
            default: 0,
            description: 'The `step_idx` to begin with.',
          }),
        },
        items: SagaStep,
        cursor: cursorOf('saga_steps', ['integer']),
        key: (row: { step_idx: number }) => [row.step_idx],
      },
      async ({ scope, params, filter, limit, after }) => {
        if (!(await runExists(deps.db, scope, params.id))) throw notFound()
        return listSteps(deps.db, scope, params.id, filter.from, limit, after)
      },
    )

    route.post(
      `${base}/:id/cancel`,
      {
        id: 'cancelSaga',
        summary: 'Cancel a saga run',
        description:
          'The run turns back before its next step and undoes what was done; a cancel during the last step comes too late. 409 `saga_ended` when it has ended.',
        ...operators,
        problems: { 409: { saga_ended: 'The run has ended.' } },
        params,
        body: NoBody,
        status: 202,
        data: SagaRunWithSteps,
      },
      async ({ deps, caller, params, reply }) => {
        const json = await cancelSaga(deps, params.id, caller.sub)
        reply.header('location', `${base}/${params.id}`)
        return new JsonText(json)
      },
    )
  })
}
