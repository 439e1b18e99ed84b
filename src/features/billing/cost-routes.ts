// What the provider's invoices cost, read from two sides: by operators under /api/v1/billing, which the specification keeps
// to them, and by tenants under /api/v1/costs, where each sees the lines that were its own.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { CSV, CsvBody, Format, varyByAccept, wantsCsv } from '../../kernel/http/csv.ts'
import { jsonPage } from '../../kernel/http/json.ts'
import { cursorOf, PageQuery } from '../../kernel/http/pages.ts'
import type { Routes } from '../../kernel/http/route.ts'
import { ExternalId, Id, Many, Nullable, Query } from '../../kernel/http/schemas.ts'
import { monthOf } from '../../kernel/time.ts'
import { CostLine } from './cost-line.ts'
import { listCosts } from './cost-store.ts'
import { COST_FILTERS, Cost, type CostQuery, type CostQuestion, costQuestion } from './costs.ts'
import { sendCostLines, sendCosts, sendFocus } from './downloads.ts'
import { CostEstimate } from './estimate.ts'
import { showEstimate } from './estimate-costs.ts'
import { type LineFilter, listLines, sumLines } from './line-store.ts'
import { CostSummary, summaryOf } from './summary.ts'

export const AnyDayOfPeriod = Type.String({ format: 'date', description: 'Any day of the invoice’s month.' })
const PeriodQuery = Query({ period: AnyDayOfPeriod })

const CostLinesQuery = Query({
  ...PageQuery,
  period: Type.Optional(AnyDayOfPeriod),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  invoice_id: Type.Optional(Id),
  resource_id: Type.Optional(Id),
  deployment_id: Type.Optional(Id),
  tenant_id: Type.Optional(ExternalId),
  matched: Type.Optional(Type.Boolean()),
  format: Format,
})

const CostsQuery = Query({ ...PageQuery, ...COST_FILTERS, format: Format })

interface Page {
  limit: number
  cursor?: string
  format?: 'json' | 'csv'
}

/** A cursor goes with the grouping alone: times and filters may be others. */
const costCursors = ({ granularity, dimensions, tag_key, top }: CostQuestion) =>
  cursorOf(`costs ${granularity} ${dimensions} ${tag_key ?? ''} ${top ?? ''}`, [
    'date',
    'integer',
    ...dimensions.map(() => 'text' as const),
    'text',
  ])

const SIDES = [
  {
    guard: 'operator',
    tag: 'Billing',
    lines: '/api/v1/billing/cost-lines',
    summary: '/api/v1/billing/summary',
    focus: '/api/v1/billing/focus',
    costs: '/api/v1/billing/costs',
    estimate: '/api/v1/billing/costs/estimate',
    ids: {
      lines: 'listCostLines',
      summary: 'getBillingSummary',
      focus: 'exportFocus',
      costs: 'listCosts',
      estimate: 'getCostEstimate',
    },
    whose: 'Of all tenants; a tenant reads its own under `/costs`.',
  },
  {
    guard: 'caller',
    tag: 'Costs',
    lines: '/api/v1/costs/lines',
    summary: '/api/v1/costs/summary',
    focus: '/api/v1/costs/focus',
    costs: '/api/v1/costs',
    estimate: '/api/v1/costs/estimate',
    ids: {
      lines: 'listOwnCostLines',
      summary: 'getOwnCostSummary',
      focus: 'exportOwnFocus',
      costs: 'listOwnCosts',
      estimate: 'getOwnCostEstimate',
    },
    whose:
      'A tenant’s lines are those that were its own while they ran, whoever has the resource now, without `project_name` and `extra`, which are the operator’s.',
  },
] as const

export function addCostRoutes(deps: Deps, route: Routes<Deps>): void {
  const { db } = deps
  const cursors = cursorOf('cost_lines', ['date', 'uuid'])
  const { app } = route

  for (const { guard, tag, lines, summary, focus, costs, estimate, ids, whose } of SIDES) {
    app.get<{ Querystring: LineFilter & Page }>(
      lines,
      {
        config: { guard },
        schema: {
          tags: [tag],
          operationId: ids.lines,
          summary: 'List cost lines',
          description: `In the order of months. \`matched=false\` lists those that are tied to nothing: no resource of their kind and name, or several. With \`format=csv\` or \`Accept: text/csv\`: a download of all lines, or of as many as \`limit\` says. ${whose}`,
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
        const { limit, cursor, format: _, period, ...rest } = request.query
        const filter = { ...rest, period: period && monthOf(period).first_day }
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        const scope = scopeOf(caller)
        varyByAccept(reply)
        if (wantsCsv(request)) return sendCostLines(deps, scope, filter, reply)
        const rows = await listLines(db, scope, filter, limit + 1, cursors.read(cursor))
        return jsonPage(
          request,
          reply,
          cursors.page(rows, limit, row => [row.period, row.id]),
        )
      },
    )

    app.get<{ Querystring: CostQuery & Page }>(
      costs,
      {
        config: { guard },
        schema: {
          tags: [tag],
          operationId: ids.costs,
          summary: 'List costs over time',
          description: `The invoices’ lines added up by month or day, and by one or several dimensions. Whatever the grouping, the rows of a month add up to its invoices: what belongs to nobody has null. A month without an invoice has the rows of its estimate. With \`format=csv\` or \`Accept: text/csv\`: a download of all rows, or of as many as \`limit\` says. ${whose}`,
          querystring: CostsQuery,
          response: {
            200: {
              description: 'A page of rows, or all of them as CSV.',
              content: { 'application/json': { schema: Many(Cost) }, [CSV]: { schema: CsvBody } },
            },
          },
        },
      },
      async (request, reply) => {
        const { limit, cursor, format: _, ...query } = request.query
        const caller = callerOf(request)
        refuseForeignTenant(caller, query.tenant_id)
        const question = costQuestion(query, deps.clock.now())
        const scope = scopeOf(caller)
        varyByAccept(reply)
        if (wantsCsv(request)) return sendCosts(deps, scope, question, reply)
        const cursors = costCursors(question)
        const rows = await listCosts(db, scope, question, limit + 1, cursors.read(cursor))
        return jsonPage(
          request,
          reply,
          cursors.page(rows, limit, row => row.key),
        )
      },
    )

    route.get(
      estimate,
      {
        guard,
        tag,
        id: ids.estimate,
        summary: 'Get the estimate of the running month',
        description: `What the month has cost so far and will have cost at its end, made hourly (task \`cost_estimate\`), and how far the last estimate of the month before was from its invoices. Its rows are among those of \`${costs.slice(7)}\`, with \`estimate\`. Null before the first. ${whose}`,
        data: Nullable(CostEstimate),
      },
      ({ scope }) => showEstimate(deps, scope),
    )

    route.get(
      summary,
      {
        guard,
        tag,
        id: ids.summary,
        summary: 'Summarize the costs of a month',
        description: `What was charged in all, what is matched to nobody, and by kind, tenant, deployment and project. ${whose}`,
        query: PeriodQuery,
        data: CostSummary,
      },
      async ({ scope, query }) => {
        const period = monthOf(query.period).first_day
        return { period, currencies: summaryOf(await sumLines(db, scope, period)) }
      },
    )

    app.get<{ Querystring: { period: string } }>(
      focus,
      {
        config: { guard },
        schema: {
          tags: [tag],
          operationId: ids.focus,
          summary: 'Export the costs of a month as FOCUS',
          description: `All lines of the month in the columns of the FinOps Open Cost and Usage Specification 1.2, as a stream of CSV; docs/focus.md has the mapping. ${whose}`,
          querystring: PeriodQuery,
          response: {
            200: {
              description: 'The rows, in the order of the invoices’ lines.',
              content: { [CSV]: { schema: CsvBody } },
            },
          },
        },
      },
      (request, reply) =>
        sendFocus(deps, scopeOf(callerOf(request)), monthOf(request.query.period).first_day, reply),
    )
  }
}
