// Provisioning and deprovisioning of a deployment, and the leaks of sagas.
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import type { DeclaredProblems } from '../../kernel/http/problems.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Id, NoBody } from '../../kernel/http/schemas.ts'
import { deploymentExists } from '../deployments/index.ts'
import { requestSaga, type SagaKind, SagaRunWithSteps } from '../sagas/index.ts'
import { Leak, ProvisionBody } from './provisioning.ts'
import { listLeaks } from './store.ts'
import { deprovisionDeployment, provisionDeployment } from './workflows.ts'

const provisionProblems: DeclaredProblems = {
  409: {
    name_taken: 'A droplet of the deployment has that name.',
    deprovisioning_under_way: 'The deployment’s droplets are being taken away; `saga_id` names the run.',
  },
  422: { deployment_not_provisionable: 'The deployment is not trial, active or past due.' },
}

const deprovisionProblems: DeclaredProblems = {
  409: {
    provisioning_under_way: 'A droplet is being made for the deployment; `saga_id` names the run.',
    tag_on_other_resources:
      'Resources that are not the deployment’s carry its tag; `resource_ids` names up to 20. Nothing is destroyed.',
  },
}

/** Of both, for the route that starts sagas by their kind. */
export const provisioningProblems: DeclaredProblems = {
  409: { ...provisionProblems[409], ...deprovisionProblems[409] },
  422: { ...provisionProblems[422] },
}

const params = Type.Object({ id: Id })
const run = { permission: 'sagas:run', params, status: 202, data: SagaRunWithSteps } as const

export const provisioningRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Sagas', guard: 'operator' }, route => {
    const provision = provisionDeployment(deps)
    const deprovision = deprovisionDeployment(deps)

    route.post(
      '/api/v1/deployments/:id/provision',
      {
        ...run,
        id: 'provisionDeployment',
        summary: 'Provision a deployment',
        description:
          'Gives it a droplet: starts a run of `provision_deployment`, or answers with the one that is under way for the same name (without a name: for the deployment). 409 `name_taken`, `deprovisioning_under_way`; 422 `deployment_not_provisionable` unless it is trial, active or past due. What the plan does not allow, and what the provider refuses, is the run’s error.',
        problems: provisionProblems,
        body: ProvisionBody,
      },
      ({ deps, caller, params, body, reply }) =>
        start(deps, reply, provision, { deployment_id: params.id, ...body }, caller.sub, ''),
    )

    route.post(
      '/api/v1/deployments/:id/deprovision',
      {
        ...run,
        id: 'deprovisionDeployment',
        summary: 'Deprovision a deployment',
        description:
          'Takes its droplets away: starts a run of `deprovision_deployment`, or answers with the one that is under way. It destroys every droplet that is tied to the deployment and lies in a project of its tenant, by the provider’s own lists, read right before; that cannot be undone. Another droplet with the deployment’s tag stops it before anything is destroyed: 409 `tag_on_other_resources` when the inventory knows of it, else the run’s error. 409 `provisioning_under_way`.',
        problems: deprovisionProblems,
        body: NoBody,
      },
      ({ deps, caller, params, reply }) =>
        start(deps, reply, deprovision, { deployment_id: params.id }, caller.sub),
    )

    route.list(
      '/api/v1/sagas/leaks',
      {
        id: 'listSagaLeaks',
        summary: 'List leaks of sagas',
        description:
          'Living resources of the inventory with the tag `saga:<id>` whose run is over and which nobody keeps: the run did not complete, is not known, or no longer has it. As of the last sweep. Droplets of runs that were rolled back are taken down by the task `leak_cleanup` within minutes. Giving a resource a desired state keeps it.',
        items: Leak,
        cursor: cursorOf('leaks', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ deps, limit, after }) => listLeaks(deps.db, limit, after),
    )
  })

async function start(
  deps: Deps,
  reply: FastifyReply,
  kind: SagaKind,
  inputs: { deployment_id: string },
  actor: string,
  pointer?: string,
): Promise<JsonText> {
  if (!(await deploymentExists(deps.db, inputs.deployment_id))) throw notFound()
  const { id, json } = await requestSaga(deps, kind, inputs, actor, pointer)
  reply.header('location', `/api/v1/sagas/${id}`)
  return new JsonText(json)
}
