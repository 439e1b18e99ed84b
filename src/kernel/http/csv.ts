// CSV responses (RFC 4180), streamed as fast as the client reads. A cell that a spreadsheet would run as a formula gets an
// apostrophe in front; a plain number, negative or not, is no formula.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'

export type Cell = string | number | boolean | null

/** For a route's response schema, under `content`. */
export const CSV = 'text/csv'
export const CsvBody = Type.String({ description: 'RFC 4180, UTF-8, with a header.' })

const NUMBER = /^-?\d+(\.\d+)?$/
/** With the full-width forms, which spreadsheets treat alike. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** Semicolons and tabs too: in some countries they separate the cells of a CSV. */
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
 * Streams the rows. The first batch is read before anything is sent, so that an early failure is still an ordinary
 * problem; a later one breaks the connection, so that no client takes a part for the whole.
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
  // Fastify would read the whole stream before it drops it.
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

/** For caches: the response depends on `Accept`. What CORS put there (the origin) stays. */
export function varyByAccept(reply: FastifyReply): void {
  const present = reply.getHeader('vary')
  reply.header('vary', present ? `${present}, accept` : 'accept')
}

/** In the query of what can be had as CSV: a link in a page cannot say what it accepts. */
export const Format = Type.Optional(
  Type.Enum(['json', 'csv'], { description: 'Counts before `Accept`, which a link cannot set.' }),
)

/** What a request asks for, by its query or else by its header. */
export const wantsCsv = ({ query, headers }: FastifyRequest): boolean => {
  const { format } = query as { format?: 'json' | 'csv' }
  return format ? format === 'csv' : prefersCsv(headers.accept)
}

/** Whether an `Accept` header prefers CSV to JSON. */
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
