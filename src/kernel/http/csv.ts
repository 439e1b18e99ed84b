// Tables as CSV (RFC 4180), as large as they may be: read as fast as the client takes them, never held whole. A cell that
// a spreadsheet would run as a formula is made text by an apostrophe before it; a plain number, negative or not, is none.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'

export type Cell = string | number | boolean | null

/** For a route's response schema, under `content`. */
export const CSV = 'text/csv'
export const CsvBody = Type.String({ description: 'RFC 4180, UTF-8, with a header.' })

const NUMBER = /^-?\d+(\.\d+)?$/
/** Also the wide forms, which spreadsheets take for the others. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** Semicolons and tabs too: in some countries they part the cells of a CSV. */
const TO_QUOTE = /[",;\t\r\n]|^\s|\s$/

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  const text = String(cell)
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return TO_QUOTE.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * Answers with the rows as they come. The first batch is read before anything is sent, so that what fails at once is
 * still an ordinary problem; what fails later breaks the connection off, and no client takes the part for the whole.
 */
export async function sendCsv(
  reply: FastifyReply,
  fileName: string,
  columns: readonly string[],
  batches: AsyncIterable<readonly Cell[][]>,
): Promise<FastifyReply> {
  const iterator = batches[Symbol.asyncIterator]()
  const first = await iterator.next()
  reply
    .header('content-type', `${CSV}; charset=utf-8; header=present`)
    .header('content-disposition', `attachment; filename="${fileName}"`)
  // Fastify would read a body to its end before it leaves it out.
  if (reply.request.method === 'HEAD') {
    await iterator.return?.()
    return reply.send()
  }
  async function* text() {
    try {
      yield csvLine(columns)
      for (let batch = first; !batch.done; batch = await iterator.next()) {
        if (batch.value.length > 0) yield batch.value.map(csvLine).join('')
      }
    } finally {
      await iterator.return?.()
    }
  }
  return reply.send(Readable.from(text()))
}

/** For caches: other answers go to those who accept others. What is there already (the origin, by CORS) stays. */
export function varyByAccept(reply: FastifyReply): void {
  const standing = reply.getHeader('vary')
  reply.header('vary', standing ? `${standing}, accept` : 'accept')
}

/** Whether a client that says this in `Accept` would rather have CSV than JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const quality = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const q = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
    quality.set(type, q === undefined ? 1 : Number(q) || 0)
  }
  const json = quality.get('application/json') ?? quality.get('application/*') ?? quality.get('*/*') ?? 0
  return (quality.get(CSV) ?? quality.get('text/*') ?? 0) > json
}
