// /api/v1/billing/cost-lines and, for tenants, /api/v1/costs/lines

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { CSV, CsvBody, prefersCsv, varyByAccept } from '../../kernel/http/csv.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { jsonPage, jsonText } from '../../kernel/http/json.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { Many, One } from '../../kernel/http/schemas.ts'
import { monthOf } from '../../kernel/time.ts'
import { assignLine, unassignLineByHand } from './assign-line.ts'
import { sendCostLines } from './cost-lines-csv.ts'
import { listLines } from './list-lines.ts'
import { AssignBody, CostLine, CostLinesQuery, IdParams } from './schemas.ts'
import { SIDES, type Side } from './sides.ts'

const config = { guard: 'operator' } as const
const tags = ['Billing']
const base = '/api/v1/billing/cost-lines'

type App = Parameters<FastifyPluginAsyncTypebox>[0]

export function lineRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const lines = cursorOf('cost_lines', ['date', 'uuid'])

  const addList = (app: App, side: Side) => {
    app.get(
      side.lines,
      {
        config: side.config,
        schema: {
          tags: side.tags,
          operationId: `list${side.own}CostLines`,
          summary: 'List the lines of the provider’s invoices',
          description: `In the order of months. \`matched=false\` lists those that are tied to nothing: no resource of their kind and name, or several. With \`Accept: text/csv\`: a download of all lines, or of as many as \`limit\` says. ${side.whose}`,
          querystring: CostLinesQuery,
          response: {
            200: {
              description: 'A page of lines, or all of them as CSV.',
              content: { 'application/json': { schema: Many(CostLine) }, [CSV]: { schema: CsvBody } },
            },
          },
        },
      },
      async (request, reply) => {
        const { limit, cursor, period, ...filter } = request.query
        const asked = { ...filter, period: period && monthOf(period).first_day }
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        const scope = scopeOf(caller)
        varyByAccept(reply)
        if (prefersCsv(request.headers.accept)) return sendCostLines(deps, scope, asked, request, reply)
        const key = lines.read(cursor) as [string, string] | null
        const after = key && { period: key[0], id: key[1] }
        const rows = await listLines(deps.db, scope, asked, limit + 1, after)
        return jsonPage(
          request,
          reply,
          lines.page(rows, limit, row => [row.period, row.id]),
        )
      },
    )
  }

  return async app => {
    for (const side of SIDES) addList(app, side)

    app.post(
      `${base}/:id/assign`,
      {
        config,
        schema: {
          tags,
          operationId: 'assignCostLine',
          summary: 'Say what a line is for',
          description:
            'A resource brings the deployment and tenant it had while the line ran, a deployment its tenant. It stays said when the invoice is ingested again.',
          params: IdParams,
          body: AssignBody,
          response: { 200: One(CostLine) },
        },
      },
      async (request, reply) => {
        const { params, body } = request
        const json = await assignLine(inRequest(deps, request), params.id, body, callerOf(request).sub)
        return jsonText(reply, `{"data":${json}}`)
      },
    )

    app.delete(
      `${base}/:id/assign`,
      {
        config,
        schema: {
          tags,
          operationId: 'unassignCostLine',
          summary: 'Take back what was said of a line',
          description: 'It is matched by kind and name again. A line that nobody assigned stays as it is.',
          params: IdParams,
          response: { 200: One(CostLine) },
        },
      },
      async (request, reply) =>
        jsonText(reply, `{"data":${await unassignLineByHand(deps, request.params.id)}}`),
    )
  }
}
