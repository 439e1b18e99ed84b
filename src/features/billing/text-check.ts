// Whether a file is text that can be stored: UTF-8 without NUL. The database takes neither of the two, and a parser would
// replace what is no UTF-8 in silence.
import { isUtf8 } from 'node:buffer'
import { InvoiceFileError } from './invoice-file-error.ts'

const LINE_FEED = 10
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** To be shown a file's chunks one after the other. */
export class TextCheck {
  #utf8 = new TextDecoder('utf-8', { fatal: true })
  #line = 1

  look(chunk: Uint8Array): void {
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
