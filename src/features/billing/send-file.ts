// An invoice's raw file as a download, byte for byte as the provider sent it. Its length is announced, and its last piece
// leaves only when all of it is what was kept: no client takes a damaged file for the whole.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { AppError, notFound } from '../../kernel/errors.ts'
import { CSV } from '../../kernel/http/csv.ts'
import { findFile, readFile } from '../storage-backends/index.ts'
import type { BillingKernel } from './billing-kernel.ts'
import { downloadName } from './file-key.ts'
import { findInvoice } from './repository.ts'

export async function sendFile(
  kernel: BillingKernel,
  id: string,
  asked: string | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const invoice = await findInvoice(kernel.db, id)
  if (!invoice) throw notFound()
  const sha256 = asked ?? invoice.sha256
  const file = sha256 === null ? undefined : await findFile(kernel.db, id, sha256)
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
  // The first piece is waited for, so that what fails at once is still an ordinary problem.
  const pieces = readFile(kernel, file)
  const first = await pieces.next()
  async function* all() {
    if (!first.done) yield first.value
    yield* pieces
  }
  const body = Readable.from(all(), { objectMode: false })
  // Also when the client has gone before anything was read.
  body.once('close', () => void pieces.return(undefined).catch(() => {}))
  return describe().header('content-length', file.bytes).send(body)
}
