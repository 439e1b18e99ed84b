// What leaves as CSV: cost lines in the columns of the API or of FOCUS, in batches that hold no transaction while a client
// reads slowly; and an invoice's raw file, byte for byte as the provider sent it.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { Deps } from '../../deps.ts'
import { AppError, invalid, notFound, unavailable } from '../../kernel/errors.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { type Cell, CSV, sendCsv } from '../../kernel/http/csv.ts'
import { listSizesThen } from '../inventory/index.ts'
import { findActive, findCopies, findFile, readFile } from '../storage-backends/index.ts'
import { findAccount } from './account-store.ts'
import { CostLine } from './cost-line.ts'
import { listCosts } from './cost-store.ts'
import { type Cost, type CostQuestion, costColumns, monthly } from './costs.ts'
import { FOCUS_COLUMNS, type FocusBook, type FocusLine, focusRow } from './focus.ts'
import { sendIngest } from './ingest-invoice.ts'
import type { InvoiceRow } from './invoice.ts'
import { downloadName } from './invoice-file.ts'
import { findInvoice } from './invoice-store.ts'
import { countLineSets, type LineFilter, type ListedLine, listFocusLines, listLines } from './line-store.ts'

interface ExportSource<Row> {
  /** Changes when lines are replaced. */
  version(): Promise<number>
  /** The rows after this one. */
  read(after: Row | null, limit: number): Promise<Row[]>
}

const AT_A_TIME = 2_000

/**
 * All rows, batch by batch. An invoice that is ingested anew meanwhile has other lines, with other ids: a file with both
 * would count them twice. So it is broken off, and whoever asked asks again.
 */
export async function* exportLines<Row>(
  { version, read }: ExportSource<Row>,
  most = Infinity,
): AsyncGenerator<Row[]> {
  const before = await version()
  let after: Row | null = null
  for (let left = most; ; ) {
    const limit = Math.min(left, AT_A_TIME)
    const rows: Row[] = await read(after, limit)
    left -= rows.length
    after = rows.at(-1) ?? null
    const isLast = left === 0 || rows.length < limit
    // Before the last batch is handed on: a small file is then refused as a whole, with words.
    if (isLast && (await version()) !== before) {
      throw unavailable('The lines were replaced during the export. Try again.')
    }
    yield rows
    if (isLast) return
  }
}

async function* cellsOf<Row>(batches: AsyncIterable<Row[]>, cells: (row: Row) => Cell[]) {
  for await (const batch of batches) yield batch.map(cells)
}

/** As the API names and orders them. */
const COST_LINE_COLUMNS = Object.keys(CostLine.properties) as (keyof typeof CostLine.properties)[]

/** How many rows a download is asked for. */
function mostRows({ request }: FastifyReply): number | undefined {
  const query = new URLSearchParams(request.url.split('?', 2)[1])
  if (query.has('cursor')) {
    const message = 'is for JSON: a CSV download has no pages'
    throw invalid('The query is not acceptable.', [{ pointer: '?cursor', message }])
  }
  // The default is the size of a page, and this has none.
  return query.has('limit') ? Number(query.get('limit')) : undefined
}

/** All that a filter finds. */
export function sendCostLines(
  { db }: Pick<Deps, 'db'>,
  scope: Scope,
  filter: LineFilter,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const most = mostRows(reply)
  const lines = exportLines<ListedLine>(
    {
      version: () => countLineSets(db, filter),
      read: (after, limit) => listLines(db, scope, filter, limit, after && [after.period, after.id]),
    },
    most,
  )
  const name = filter.period ? `cost-lines-${filter.period.slice(0, 7)}.csv` : 'cost-lines.csv'
  return sendCsv(reply, name, COST_LINE_COLUMNS, cellsOf(lines, costLineCells))
}

function costLineCells({ json }: { json: string }): Cell[] {
  const line: Static<typeof CostLine> = JSON.parse(json)
  const extra = Object.keys(line.extra).length > 0 ? JSON.stringify(line.extra) : null
  return COST_LINE_COLUMNS.map(column => (column === 'extra' ? extra : line[column]))
}

/** Costs over time. A month is read at once, so that its rows add up whatever is assigned or ingested meanwhile. */
export function sendCosts(
  { db }: Pick<Deps, 'db'>,
  scope: Scope,
  question: CostQuestion,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const columns = costColumns(question)
  const questions = question.top === undefined ? monthly(question) : [question]
  let left = mostRows(reply) ?? Infinity
  async function* batches() {
    for (const asked of questions) {
      if (left === 0) return
      const rows = await listCosts(db, scope, asked, left === Infinity ? null : left, null)
      left -= rows.length
      yield rows
    }
  }
  const cells = cellsOf(batches(), ({ json }) => {
    const row: Static<typeof Cost> = JSON.parse(json)
    return columns.map(column => row[column] ?? null)
  })
  return sendCsv(reply, `costs-${question.from.slice(0, 7)}-${question.to.slice(0, 7)}.csv`, columns, cells)
}

/** All lines of a month. A tenant is not told whose account at the provider its lines are billed to. */
export async function sendFocus(
  { db, platformTenantId }: Pick<Deps, 'db' | 'platformTenantId'>,
  scope: Scope,
  period: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const known = scope.allTenants ? await findAccount(db) : undefined
  const id = known?.account_id ?? platformTenantId
  const sizes = new Map((await listSizesThen(db, period)).map(size => [size.slug, size]))
  const book: FocusBook = { account: { id, name: known?.name ?? id }, sizes }
  const lines = exportLines<FocusLine>({
    version: () => countLineSets(db, { period }),
    read: (after, limit) => listFocusLines(db, scope, period, limit, after?.id ?? null),
  })
  const rows = cellsOf(lines, line => {
    const row = focusRow(line, book)
    return FOCUS_COLUMNS.map(column => row[column])
  })
  return sendCsv(reply, `focus-${period.slice(0, 7)}.csv`, FOCUS_COLUMNS, rows)
}

/**
 * The length is announced, and the last piece leaves only when all of it is what was kept: no client takes a damaged file
 * for the whole.
 */
export async function sendFile(
  deps: Deps,
  id: string,
  asked: string | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const invoice = await findInvoice(deps.db, id)
  if (!invoice) throw notFound()
  const sha256 = asked ?? invoice.sha256
  const file = sha256 === null ? undefined : await findFile(deps.db, id, sha256)
  if (!file) throw new AppError('not_found', 'file_not_kept', 'This file of the invoice is not kept.')
  const tag = `"${file.sha256}"`
  const { method, headers } = reply.request
  const has = headers['if-none-match']?.split(',').some(known => known.trim() === tag)
  const describe = () =>
    reply
      .header('etag', tag)
      .header('content-type', CSV)
      .header('content-disposition', `attachment; filename="${downloadName(invoice)}"`)
  if (has) return describe().code(304).send()
  // An empty stream, for of nothing at all Fastify would say that its length is 0.
  if (method === 'HEAD') return describe().header('content-length', file.bytes).send(Readable.from([]))
  const copy = await openCopy(deps, invoice, file.sha256)
  const body = Readable.from(wholeOf(deps, invoice, copy), { objectMode: false })
  // Also when the client has gone before anything was read.
  body.once('close', () => void copy.pieces.return(undefined).catch(() => {}))
  return describe().header('content-length', file.bytes).send(body)
}

interface OpenCopy {
  sha256: string
  first: IteratorResult<Uint8Array>
  pieces: AsyncGenerator<Uint8Array>
}

/** From the first backend that gives it; what all of them have lost is fetched again from the provider. */
async function openCopy(deps: Deps, invoice: InvoiceRow, sha256: string): Promise<OpenCopy> {
  let failure: unknown
  for (const copy of await findCopies(deps.db, invoice.id, sha256)) {
    const pieces = readFile(deps, copy)
    try {
      // The first piece is waited for, so that what fails at once is still an ordinary problem.
      return { sha256, first: await pieces.next(), pieces }
    } catch (error) {
      failure ??= error
    }
  }
  await fetchAgain(deps, invoice, sha256)
  throw failure
}

async function* wholeOf(deps: Deps, invoice: InvoiceRow, { sha256, first, pieces }: OpenCopy) {
  try {
    if (!first.done) yield first.value
    yield* pieces
  } catch (error) {
    await fetchAgain(deps, invoice, sha256)
    throw error
  }
}

/** The ingest compares what the provider gives with the hash, and puts it where it was lost. */
async function fetchAgain(deps: Deps, { id, sha256: current }: InvoiceRow, sha256: string): Promise<void> {
  if (sha256 !== current || !(await findActive(deps.db))) return
  await sendIngest(deps, deps.db, id)
}
