// An invoice's file, read as a stream: each line is handed on as it is found, and none is held. The first thing that is
// wrong with the file ends the reading, with the line it is on. That it is text was checked before (text-check.ts).
import { once } from 'node:events'
import { CsvError, type Parser, parse } from 'csv-parse'
import { type Columns, columnsOf } from './invoice-columns.ts'
import { InvoiceFileError } from './invoice-file-error.ts'
import { type InvoiceLine, readInvoiceLine } from './invoice-line.ts'

/** A quote that is never closed would otherwise make the rest of the file one field. */
const LONGEST_RECORD = 256 * 1024

/** What is read of a file; the currency is known once the first line is. */
export interface Reading {
  currency: string
  lines: number
}

/**
 * Yields after each chunk of the file, so that the caller may do something with what it was handed. (Lines that were
 * collected here and handed on together would outlive the collector's notion of young objects: with a million of them
 * that is a hundred megabytes.)
 */
export async function* readInvoiceFile(
  bytes: AsyncIterable<Uint8Array>,
  each: (line: InvoiceLine) => void,
): AsyncGenerator<Reading> {
  let columns: Columns | undefined
  const reading: Reading = { currency: '', lines: 0 }
  const place = lineCounter()
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: LONGEST_RECORD,
    // Called for each record as it is found, which costs less than a stream of records does. Nothing is passed on.
    on_record: (record: string[]) => {
      const line = place.of(record, parser.info.lines)
      if (columns) {
        each(readInvoiceLine(record, columns, line))
        reading.lines += 1
      } else {
        columns = columnsOf(record)
        reading.currency = columns.currency
      }
      return null
    },
  })
  // Each failure also comes back from the write or the end that met it.
  parser.on('error', () => {})
  try {
    for await (const chunk of bytes) {
      await write(parser, chunk)
      yield reading
    }
    await end(parser)
  } catch (error) {
    throw error instanceof CsvError ? inOurWords(error) : error
  } finally {
    parser.destroy()
  }
  if (!columns) throw new InvoiceFileError('the file is empty')
  yield reading
}

/**
 * The line a record begins on. The parser counts the line it ends on, and counts twice each CRLF inside quotes.
 */
function lineCounter() {
  let last = 0
  let countedTwice = 0
  return {
    of(record: string[], counted: number): number {
      let within = 0
      if (counted > last + 1) {
        for (const field of record) {
          const breaks = field.match(/\r\n|\r|\n/g) ?? []
          const pairs = breaks.filter(mark => mark.length === 2).length
          within += breaks.length
          countedTwice += pairs
        }
      }
      last = counted
      return counted - countedTwice - within
    },
  }
}

function write(parser: Parser, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.write(chunk, error => (error ? reject(error) : resolve()))
  })
}

async function end(parser: Parser): Promise<void> {
  parser.resume()
  parser.end()
  await once(parser, 'end')
}

function inOurWords(error: CsvError): InvoiceFileError {
  const line = typeof error.lines === 'number' ? error.lines : undefined
  const words = PROBLEMS[error.code] ?? error.message
  return new InvoiceFileError(words, line === undefined ? undefined : { line })
}

const PROBLEMS: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a quote opens in the middle of a field',
  CSV_MAX_RECORD_SIZE: 'a line is too long, or a quote before it is never closed',
}
