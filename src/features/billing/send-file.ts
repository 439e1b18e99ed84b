// An invoice's raw file as a download, byte for byte as the provider sent it. Its length is announced, and its last piece
// leaves only when all of it is what was kept: no client takes a damaged file for the whole.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../../deps.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { CSV } from '../../kernel/http/csv.ts'
import { findActive, findCopies, findFile, type KeptFile, readFile } from '../storage-backends/index.ts'
import { downloadName } from './file-key.ts'
import { sendIngest } from './jobs.ts'
import { findInvoice } from './repository.ts'
import type { InvoiceRow } from './tables.ts'

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
  const copy = await openCopy(deps, invoice, file)
  const body = Readable.from(wholeOf(deps, invoice, copy), { objectMode: false })
  // Also when the client has gone before anything was read.
  body.once('close', () => void copy.pieces.return(undefined).catch(() => {}))
  return describe().header('content-length', file.bytes).send(body)
}

interface OpenCopy extends Pick<KeptFile, 'sha256'> {
  first: IteratorResult<Uint8Array>
  pieces: AsyncGenerator<Uint8Array>
}

/** From the first backend that gives it; what all of them have lost is fetched again from the provider. */
async function openCopy(
  deps: Deps,
  invoice: InvoiceRow,
  { sha256 }: Pick<KeptFile, 'sha256'>,
): Promise<OpenCopy> {
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
