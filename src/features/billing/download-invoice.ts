// An invoice's file, brought here whole before anything is done with it: into a temporary file, hashed and checked to be
// text on the way. So nothing waits for the network with a transaction open, a download that breaks off is never half an
// invoice, and a file that has not changed costs no more than its download.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InvoiceFileError } from './invoice-file-error.ts'
import { TextCheck } from './text-check.ts'

export interface InvoiceFile {
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
  use: (file: InvoiceFile) => Promise<T>,
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
        text.look(chunk)
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
