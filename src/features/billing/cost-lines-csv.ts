// Cost lines as a download: all that a filter finds, in the columns of the API.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../../kernel/errors.ts'
import { sendCsv } from '../../kernel/http/csv.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { exportLines } from './export-lines.ts'
import {
  COST_LINE_COLUMNS,
  type CostLineFilter,
  countLineSets,
  type ExportedLine,
  listExportedLines,
} from './export-repository.ts'

export async function sendCostLines(
  { db }: Kernel,
  filter: CostLineFilter,
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
  const lines = exportLines<ExportedLine>(
    {
      version: () => countLineSets(db, filter),
      read: (after, limit) => listExportedLines(db, filter, after, limit),
    },
    most,
  )
  const name = filter.period ? `cost-lines-${filter.period.slice(0, 7)}.csv` : 'cost-lines.csv'
  return sendCsv(reply, name, COST_LINE_COLUMNS, rowsOf(lines))
}

async function* rowsOf(batches: AsyncIterable<ExportedLine[]>) {
  for await (const batch of batches) {
    yield batch.map(line => COST_LINE_COLUMNS.map(column => line[column]))
  }
}
