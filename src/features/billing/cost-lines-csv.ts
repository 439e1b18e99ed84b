// Cost lines as a download: all that a filter finds, in the columns of the API.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../deps.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { sendCsv } from '../../kernel/http/csv.ts'
import { exportLines } from './export-lines.ts'
import { countLineSets } from './export-repository.ts'
import { type LineFilter, listLineRows } from './list-lines.ts'
import { CostLine } from './schemas.ts'
import type { CostLineRow } from './tables.ts'

/** As the API names and orders them. */
const COST_LINE_COLUMNS = Object.keys(CostLine.properties) as (keyof typeof CostLine.properties)[]
type Line = Pick<CostLineRow, (typeof COST_LINE_COLUMNS)[number]>

export async function sendCostLines(
  { db }: Deps,
  scope: Scope,
  filter: LineFilter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const asked = new URLSearchParams(request.url.split('?', 2)[1])
  if (asked.has('cursor')) {
    const message = 'is for JSON: a CSV download has no pages'
    throw invalid('The query is not acceptable.', [{ pointer: '?cursor', message }])
  }
  // The default is the size of a page, and this has none.
  const most = asked.has('limit') ? Number(asked.get('limit')) : undefined
  const lines = exportLines<Line>(
    {
      version: () => countLineSets(db, filter),
      read: (after, limit) => listLineRows(db, scope, COST_LINE_COLUMNS, filter, limit, after),
    },
    most,
  )
  const name = filter.period ? `cost-lines-${filter.period.slice(0, 7)}.csv` : 'cost-lines.csv'
  return sendCsv(reply, name, COST_LINE_COLUMNS, rowsOf(lines))
}

async function* rowsOf(batches: AsyncIterable<Line[]>) {
  for await (const batch of batches) {
    yield batch.map(({ extra, ...line }) => {
      const cells = { ...line, extra: extra && JSON.stringify(extra) }
      return COST_LINE_COLUMNS.map(column => cells[column])
    })
  }
}
