// /api/v1/deployments/:id/usage, day by day too, and /api/v1/billing/margins
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { invalid } from '../../kernel/errors.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { ExternalId, Id, Query } from '../../kernel/http/schemas.ts'
import { marginsOfDeployments, marginsOfTenants } from './list-margins.ts'
import { Margins } from './margin.ts'
import { monthOfQuery } from './period.ts'
import { showUsage, showUsageByDay } from './read-usage.ts'
import { costsOfNobody } from './store.ts'
import { Usage } from './usage.ts'
import { UsageByDay } from './usage-by-day.ts'

const Period = Type.String({
  pattern: '^[12]\\d{3}-(0[1-9]|1[0-2])$',
  description: 'A month in UTC, `YYYY-MM`, that has begun. Default: the current one.',
})

const MarginsQuery = Query({
  ...PageQuery,
  period: Type.Optional(Period),
  by: Type.Optional(Type.Enum(['deployment', 'tenant'], { default: 'deployment' })),
  tenant_id: Type.Optional(ExternalId),
  deployment_id: Type.Optional(Type.String({ ...Id, description: 'Not with `by=tenant`.' })),
})

export const meteringRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Deployments', guard: 'caller' }, route => {
    const { db, clock, tenantTime: time } = deps
    const cursors = {
      deployment: cursorOf('margins', ['uuid']),
      tenant: cursorOf('margins_by_tenant', ['text']),
    }

    route.get(
      '/api/v1/deployments/:id/usage',
      {
        id: 'getUsage',
        summary: 'Get the usage of a deployment',
        description:
          'Of each kind how long resources lived, what of it the plan and its addons include and what the rest costs; base price, addons, the total so far and the month’s forecast. Kinds that the plan has no price for cost what the resource prices of the day say. `meters` are what usage events come to, as soon as they are sent. Base price and addons are charged for the part of the month in which they hold, by the second, and each hour’s usage by the terms at its beginning; whatever is changed later, a month that is over keeps its price.',
        params: Type.Object({ id: Id }),
        query: Query({ period: Type.Optional(Period) }),
        data: Usage,
      },
      ({ scope, params, query }) => showUsage(deps, scope, params.id, query.period),
    )

    route.get(
      '/api/v1/deployments/:id/usage/days',
      {
        id: 'getUsageByDay',
        summary: 'Get the usage of a deployment day by day',
        description:
          'What the month comes to by the end of each of its days, and for the days to come its forecast. Base price and addons grow with the time in which they hold; the last day is what `/usage` shows for the whole month.',
        params: Type.Object({ id: Id }),
        query: Query({ period: Type.Optional(Period) }),
        data: UsageByDay,
      },
      ({ scope, params, query }) => showUsageByDay(deps, scope, params.id, query.period),
    )

    // Not `route.list`: the first page says what is nobody's.
    route.app.withTypeProvider<TypeBoxTypeProvider>().get(
      '/api/v1/billing/margins',
      {
        config: { guard: 'operator' },
        schema: {
          tags: ['Billing'],
          operationId: 'listMargins',
          summary: 'List margins',
          description:
            'For each deployment, or each tenant (`by=tenant`), what it is charged, what the provider’s lines for it cost, and what is left. All of them are listed, charged or not, and every line is in one row or in `unassigned`: a line of a deployment is its deployment’s tenant’s.',
          querystring: MarginsQuery,
          response: { 200: Margins },
        },
      },
      async (request, reply) => {
        const { limit, cursor, period, by = 'deployment', tenant_id: tenantId } = request.query
        const { deployment_id: deploymentId } = request.query
        if (by === 'tenant' && deploymentId !== undefined) throw notWithTenants()
        const now = clock.now()
        const month = monthOfQuery(period, now)
        const after = (cursors[by].read(cursor)?.[0] as string | undefined) ?? null
        const asked = { time, month, now, tenantId, deploymentId, limit: limit + 1, after }
        const rows =
          by === 'tenant' ? await marginsOfTenants(db, asked) : await marginsOfDeployments(db, asked)
        const page = cursors[by].page(rows, limit, row => [row.deployment_id ?? row.tenant_id])
        const narrowed = deploymentId !== undefined || (by === 'tenant' && tenantId !== undefined)
        const whose = { tenantId: by === 'tenant' ? null : tenantId }
        const unassigned =
          cursor === undefined && !narrowed ? await costsOfNobody(db, month.first_day, whose) : null
        return { ...withNextLink(request, reply, page), period: month.period, unassigned }
      },
    )
  })

const notWithTenants = () =>
  invalid('The query is not acceptable.', [
    { pointer: '?deployment_id', message: 'does not go with by=tenant' },
  ])
