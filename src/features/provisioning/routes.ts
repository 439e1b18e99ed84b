// Provisioning of a deployment, and what sagas have left behind.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonText } from '../../kernel/http/json.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pages.ts'
import { Many, NoBody, One } from '../../kernel/http/schemas.ts'
import { deploymentExists } from '../deployments/index.ts'
import { type Requested, requestSaga, SagaRunWithSteps } from '../sagas/index.ts'
import { deprovisionDeployment } from './deprovision-deployment.ts'
import { listLeaks } from './leak-repository.ts'
import { deprovisionProblems, provisionProblems } from './problems.ts'
import { provisionDeployment } from './provision-deployment.ts'
import { IdParams, Leak, LeaksQuery, ProvisionBody } from './schemas.ts'

const config = { guard: 'operator' } as const
const runs = { ...config, permission: 'sagas:run' } as const
const tags = ['Sagas']
const deployments = '/api/v1/deployments/:id'
const sagas = '/api/v1/sagas'

export function provisioningRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const provision = provisionDeployment(deps)
  const deprovision = deprovisionDeployment(deps)
  const cursors = cursorOf('leaks', ['uuid'])
  return async app => {
    app.post(
      `${deployments}/provision`,
      {
        config: { ...runs, problems: provisionProblems },
        schema: {
          tags,
          operationId: 'provisionDeployment',
          summary: 'Give a deployment a droplet',
          description:
            'Starts a run of `provision_deployment`, or answers with the one that is under way for the same name (without a name: for the deployment). 409 `name_taken`, `deprovisioning_under_way`; 422 `deployment_not_provisionable` unless it is trial, active or past due. What the plan does not allow, and what the provider refuses, is the run’s error.',
          params: IdParams,
          body: ProvisionBody,
          response: { 202: One(SagaRunWithSteps) },
        },
      },
      async (request, reply) => {
        const inThis = inRequest(deps, request)
        const deployment_id = request.params.id
        if (!(await deploymentExists(inThis.db, deployment_id))) throw notFound()
        const inputs = { deployment_id, ...request.body }
        return accepted(reply, await requestSaga(inThis, provision, inputs, callerOf(request).sub, ''))
      },
    )

    app.post(
      `${deployments}/deprovision`,
      {
        config: { ...runs, problems: deprovisionProblems },
        schema: {
          tags,
          operationId: 'deprovisionDeployment',
          summary: 'Take a deployment’s droplets away',
          description:
            'Starts a run of `deprovision_deployment`, or answers with the one that is under way. It destroys every droplet that is tied to the deployment and lies in a project of its tenant, by the provider’s own lists, read right before; that cannot be undone. Another droplet with the deployment’s tag stops it before anything is destroyed: 409 `tag_on_other_resources` when the inventory knows of it, else the run’s error. 409 `provisioning_under_way`.',
          params: IdParams,
          body: NoBody,
          response: { 202: One(SagaRunWithSteps) },
        },
      },
      async (request, reply) => {
        const inThis = inRequest(deps, request)
        const deployment_id = request.params.id
        if (!(await deploymentExists(inThis.db, deployment_id))) throw notFound()
        return accepted(
          reply,
          await requestSaga(inThis, deprovision, { deployment_id }, callerOf(request).sub),
        )
      },
    )

    app.get(
      `${sagas}/leaks`,
      {
        config,
        schema: {
          tags,
          operationId: 'listSagaLeaks',
          summary: 'List what sagas have left behind',
          description:
            'Living resources of the inventory with the tag `saga:<id>` whose run is over and which nobody keeps: the run did not complete, is not known, or no longer has it. As of the last sweep. Droplets of runs that were rolled back are taken down by the task `leak_cleanup` within minutes. Giving a resource a desired state keeps it.',
          querystring: LeaksQuery,
          response: { 200: Many(Leak) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const after = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listLeaks(deps.db, limit + 1, after ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.resource.id]),
        )
      },
    )
  }
}

function accepted(reply: FastifyReply, { id, json }: Requested): never {
  reply.code(202).header('location', `${sagas}/${id}`)
  return jsonText(reply, `{"data":${json}}`)
}
