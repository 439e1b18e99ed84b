// An invoice's file: brought here whole, into a temporary file, hashed and checked to be text on the way; then read as a
// stream of lines, of which none is held. So nothing waits for the network with a transaction open, a download that breaks
// off is never half an invoice, and a file that has not changed costs no more than its download.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CsvError, type Parser, parse } from 'csv-parse'
import type { InvoiceLine } from './cost-line.ts'
import { type Columns, InvoiceFileError, readHeader, readInvoiceLine } from './csv-line.ts'

/** The provider names its invoices; only harmless characters of that get into a path. The hash keeps keys apart. */
const harmless = (name: string): string => name.replace(/[^\w-]/g, '_')

/** Where the file is kept. */
export const fileKey = (invoiceUuid: string, sha256: string): string =>
  `invoices/${harmless(invoiceUuid)}/${sha256}.csv`

export const downloadName = ({ period, invoice_uuid }: { period: string; invoice_uuid: string }): string =>
  `invoice-${period.slice(0, 7)}-${harmless(invoice_uuid)}.csv`

export interface DownloadedFile {
  /** Of the raw bytes. */
  sha256: string
  bytes: number
  /** From the start, as often as it is asked for. */
  open(): Readable
}

const LARGEST_BYTES = 4 * 1024 ** 3

/** Hands the file to `use`, and takes it away afterwards. */
export async function withInvoiceFile<T>(
  download: () => Promise<Readable>,
  signal: AbortSignal,
  use: (file: DownloadedFile) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'cloudops-invoice-'))
  try {
    const path = join(folder, 'invoice.csv')
    const hash = createHash('sha256')
    let size = 0
    const hashed = async function* (bytes: AsyncIterable<Uint8Array>) {
      const text = new TextCheck()
      for await (const chunk of bytes) {
        size += chunk.byteLength
        if (size > LARGEST_BYTES) throw new InvoiceFileError(`the file is larger than ${LARGEST_BYTES} bytes`)
        hash.update(chunk)
        text.check(chunk)
        yield chunk
      }
      text.end()
    }
    await pipeline(await download(), hashed, createWriteStream(path, { mode: 0o600 }), { signal })
    return await use({ sha256: hash.digest('hex'), bytes: size, open: () => createReadStream(path) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const LINE_FEED = 10
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/**
 * Whether a file is UTF-8 without NUL, chunk by chunk. The database takes neither of the two, and the parser would replace
 * what is no UTF-8 in silence.
 */
export class TextCheck {
  #utf8 = new TextDecoder('utf-8', { fatal: true })
  #line = 1

  check(chunk: Uint8Array): void {
    const nul = chunk.indexOf(0)
    if (nul >= 0) {
      const line = this.#line + lineFeeds(chunk.subarray(0, nul))
      throw new InvoiceFileError('there is a NUL byte', { line })
    }
    this.#decode(chunk)
    this.#line += lineFeeds(chunk)
  }

  /** A file may also end in the middle of a character. */
  end(): void {
    this.#decode()
  }

  #decode(chunk?: Uint8Array): void {
    try {
      this.#utf8.decode(chunk, { stream: chunk !== undefined })
    } catch {
      const line = this.#line + (chunk ? linesBeforeBadOne(chunk) : 0)
      throw new InvoiceFileError('this is not UTF-8 text', { line })
    }
  }
}

function lineFeeds(chunk: Uint8Array): number {
  let count = 0
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}

function linesBeforeBadOne(chunk: Uint8Array): number {
  let from = 0
  // A character may have begun in the chunk before.
  while (from < 3 && isContinuation(chunk[from])) from += 1
  for (let line = 0; ; line++) {
    const end = chunk.indexOf(LINE_FEED, from)
    if (end < 0 || !isUtf8(chunk.subarray(from, end))) return line
    from = end + 1
  }
}

/** A quote that is never closed would otherwise make the rest of the file one field. */
const LONGEST_RECORD = 256 * 1024

/** What is read of a file; its currency is known once the first line is. */
export interface Reading {
  currency: string
  lines: number
}

/**
 * Hands each line on as it is found, and yields after each chunk of the file, so that the caller may do something with
 * what it was handed. (Lines that were collected here and handed on together would outlive the collector's notion of young
 * objects: with a million of them that is a hundred megabytes.) The first thing that is wrong ends the reading.
 * `currency`: the invoice's own, for a file that does not name one.
 */
export async function* readInvoiceFile(
  bytes: AsyncIterable<Uint8Array>,
  currency: string,
  each: (line: InvoiceLine) => void,
): AsyncGenerator<Reading> {
  let columns: Columns | undefined
  const reading: Reading = { currency, lines: 0 }
  const firstLineOf = lineCounter()
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: LONGEST_RECORD,
    // Called for each record as it is found, which costs less than a stream of records does. Nothing is passed on.
    on_record: (record: string[]) => {
      const line = firstLineOf(record, parser.info.lines)
      // A row of nothing but commas and spaces is an empty line too.
      if (record.every(isBlank)) return null
      if (columns) {
        each(readInvoiceLine(record, columns, line))
        reading.lines += 1
      } else {
        columns = readHeader(record, currency, line)
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
    parser.resume()
    parser.end()
    await once(parser, 'end')
  } catch (error) {
    throw error instanceof CsvError ? inOurWords(error) : error
  } finally {
    parser.destroy()
  }
  if (!columns) throw new InvoiceFileError('the file is empty')
  yield reading
}

const isBlank = (field: string): boolean => field.trim() === ''

/** The line a record begins on. The parser counts the line it ends on, and counts twice each CRLF inside quotes. */
function lineCounter() {
  let last = 0
  let countedTwice = 0
  return (record: string[], counted: number): number => {
    let within = 0
    if (counted > last + 1) {
      for (const field of record) {
        const breaks = field.match(/\r\n|\r|\n/g) ?? []
        within += breaks.length
        countedTwice += breaks.filter(mark => mark.length === 2).length
      }
    }
    last = counted
    return counted - countedTwice - within
  }
}

const write = (parser: Parser, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    parser.write(chunk, error => (error ? reject(error) : resolve()))
  })

const PROBLEMS: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a quote opens in the middle of a field',
  CSV_MAX_RECORD_SIZE: 'a line is too long, or a quote before it is never closed',
}

function inOurWords({ code, message, lines }: CsvError): InvoiceFileError {
  return new InvoiceFileError(
    PROBLEMS[code] ?? message,
    typeof lines === 'number' ? { line: lines } : undefined,
  )
}
