// /api/v1/billing/focus and, for tenants, /api/v1/costs/focus

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { callerOf, scopeOf } from '../../kernel/http/caller.ts'
import { CSV, CsvBody, sendCsv } from '../../kernel/http/csv.ts'
import { Query } from '../../kernel/http/schemas.ts'
import { monthOf } from '../../kernel/time.ts'
import { exportLines } from './export-lines.ts'
import { countLineSets, listFocusLines } from './export-repository.ts'
import { FOCUS_COLUMNS, type FocusLine, focusRow } from './focus-row.ts'
import { AnyDayOfPeriod } from './schemas.ts'
import { SIDES } from './sides.ts'

export function focusRoutes({ db, platformTenantId }: Deps): FastifyPluginAsyncTypebox {
  return async app => {
    for (const side of SIDES) {
      app.get(
        side.focus,
        {
          config: side.config,
          schema: {
            tags: side.tags,
            operationId: `export${side.own}Focus`,
            summary: 'Export a month as FOCUS',
            description: `All lines of the month in the columns of the FinOps Open Cost and Usage Specification 1.2, as a stream of CSV; docs/focus.md has the mapping. ${side.whose}`,
            querystring: Query({ period: AnyDayOfPeriod }),
            response: {
              200: {
                description: 'The rows, in the order of the invoices’ lines.',
                content: { [CSV]: { schema: CsvBody } },
              },
            },
          },
        },
        async (request, reply) => {
          const period = monthOf(request.query.period).first_day
          const scope = scopeOf(callerOf(request))
          const lines = exportLines<FocusLine>({
            version: () => countLineSets(db, { period }),
            read: (after, limit) => listFocusLines(db, scope, period, after?.id ?? null, limit),
          })
          return sendCsv(
            reply,
            `focus-${period.slice(0, 7)}.csv`,
            FOCUS_COLUMNS,
            rowsOf(lines, platformTenantId),
          )
        },
      )
    }
  }
}

async function* rowsOf(batches: AsyncIterable<FocusLine[]>, billingAccountId: string) {
  for await (const batch of batches) {
    yield batch.map(line => {
      const row = focusRow(line, billingAccountId)
      return FOCUS_COLUMNS.map(column => row[column])
    })
  }
}
