// /api/v1/catalog/plans

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonPage } from '../../kernel/http/json.ts'
import { cursorOf, PageQuery } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import { createPlan } from './create-plan.ts'
import { findPlan, listPlans, renamePlanRow } from './plan-repository.ts'
import { base, reads, tags, writes } from './route-configs.ts'
import { CreatePlanBody, Plan, PlanParams, RenamePlanBody } from './schemas.ts'

export function planRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const plans = cursorOf('plans', ['text'])
  const find = async (code: string) => {
    const found = await findPlan(deps.db, code)
    if (!found) throw notFound()
    return { data: JSON.parse(found.json) }
  }

  return async app => {
    app.get(
      `${base}/plans`,
      {
        config: reads,
        schema: {
          tags,
          operationId: 'listPlans',
          summary: 'List the plans',
          description: 'By code, each with its active version and what that includes.',
          querystring: Query(PageQuery),
          response: { 200: Many(Plan) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const after = plans.read(cursor)?.[0] as string | undefined
        const rows = await listPlans(deps.db, limit + 1, after ?? null)
        return jsonPage(
          request,
          reply,
          plans.page(rows, limit, row => [row.code]),
        )
      },
    )

    app.get(
      `${base}/plans/:code`,
      {
        config: reads,
        schema: {
          tags,
          operationId: 'getPlan',
          summary: 'Show a plan',
          params: PlanParams,
          response: { 200: One(Plan) },
        },
      },
      request => find(request.params.code),
    )

    app.post(
      `${base}/plans`,
      {
        config: { ...writes, problems: { 409: { plan_code_taken: 'There is a plan of that code.' } } },
        schema: {
          tags,
          operationId: 'createPlan',
          summary: 'Create a plan',
          description: 'It can be subscribed to once a version of it is published. 409 `plan_code_taken`.',
          body: CreatePlanBody,
          response: { 201: One(Plan) },
        },
      },
      async (request, reply) => {
        const { id, code, name } = await createPlan(inRequest(deps, request), request.body)
        const location = `${base}/plans/${code}`
        reply.code(201).header('location', location)
        return { data: { id, code, name, active_version: null } }
      },
    )

    app.patch(
      `${base}/plans/:code`,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'renamePlan',
          summary: 'Rename a plan',
          description: 'The code is its identity and stays.',
          params: PlanParams,
          body: RenamePlanBody,
          response: { 200: One(Plan) },
        },
      },
      async request => {
        const { code } = request.params
        const { name } = request.body
        const rename = (to: string) => transaction(deps.db, tx => renamePlanRow(tx, code, to))
        if (name !== undefined && !(await rename(name))) throw notFound()
        return find(code)
      },
    )
  }
}
