// /api/v1/billing/summary and, for tenants, /api/v1/costs/summary

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TSchema, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { callerOf, scopeOf } from '../../kernel/http/caller.ts'
import { Id, Nullable, One, Query } from '../../kernel/http/schemas.ts'
import { monthOf } from '../../kernel/time.ts'
import { AnyDayOfPeriod } from './schemas.ts'
import { SIDES } from './sides.ts'
import { SHOWN_GROUPS, summaryOf } from './summary.ts'
import { sumLines } from './summary-repository.ts'

const sums = {
  lines: Type.Integer(),
  amount: Type.String({ description: 'The exact sum.' }),
  amount_minor: Type.Integer({ description: 'The lines’ minor units, summed; net and tax together.' }),
  net_minor: Type.Integer(),
  tax_minor: Type.Integer(),
}
const by = <N extends string, T extends TSchema>(name: N, type: T) =>
  Type.Array(Type.Object({ [name]: type, ...sums } as Record<N, T> & typeof sums), {
    maxItems: SHOWN_GROUPS,
    description: `The ${SHOWN_GROUPS} with the largest amounts, largest first.`,
  })
const Others = Nullable(Type.Object({ groups: Type.Integer({ description: 'How many they are.' }), ...sums }))

const Summary = Type.Object({
  period: Type.String({ format: 'date', description: 'The first day of the month.' }),
  currencies: Type.Array(
    Type.Object({
      currency: Type.String(),
      ...sums,
      unmatched: Type.Object(sums, {
        description: 'Of the lines that `/billing/cost-lines?matched=false` lists, taxes among them.',
      }),
      by_kind: by('kind', Type.String()),
      by_tenant: by('tenant_id', Nullable(Type.String())),
      by_deployment: by('deployment_id', Nullable(Id)),
      by_project: by('project_name', Nullable(Type.String())),
      others: Type.Object(
        { by_kind: Others, by_tenant: Others, by_deployment: Others, by_project: Others },
        {
          description:
            'What each list leaves out, added up; null where it leaves nothing out. `/billing/margins` pages through all.',
        },
      ),
    }),
    { description: 'Each currency by itself; empty for a month without lines.' },
  ),
})

export function summaryRoutes({ db }: Deps): FastifyPluginAsyncTypebox {
  return async app => {
    for (const side of SIDES) {
      app.get(
        side.summary,
        {
          config: side.config,
          schema: {
            tags: side.tags,
            operationId: side.own ? 'getOwnCostSummary' : 'getBillingSummary',
            summary: 'Add up a month',
            description: `What was charged in all, what is matched to nobody, and by kind, tenant, deployment and project. ${side.whose}`,
            querystring: Query({ period: AnyDayOfPeriod }),
            response: { 200: One(Summary) },
          },
        },
        async request => {
          const period = monthOf(request.query.period).first_day
          return {
            data: { period, currencies: summaryOf(await sumLines(db, scopeOf(callerOf(request)), period)) },
          }
        },
      )
    }
  }
}
