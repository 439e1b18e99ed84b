// A new set of lines in the place of the old one, inside the caller's transaction: read from the file, written in
// batches, then summed up. Reading goes on while a batch is being written, so that neither waits for the other.

import { createHash } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { newId } from '../../kernel/ids.ts'
import type { InvoiceFile } from './download-invoice.ts'
import { handAssigned } from './hand-assigned.ts'
import { InvoiceFileError } from './invoice-file-error.ts'
import { contentOf, type InvoiceLine } from './invoice-line.ts'
import { LineBatch } from './line-batch.ts'
import { type AssignedLine, assignLines, deleteLines, listAssignments } from './line-repository.ts'
import { type Reading, readInvoiceFile } from './read-invoice-file.ts'
import { finishIngest, lockInvoice } from './repository.ts'
import { requestPush } from './request-push.ts'
import type { InvoiceRow } from './tables.ts'

/** Enough for a statement's own cost not to matter, few enough to die young. */
const LINES_A_BATCH = 2_000

export async function replaceLines(
  tx: Executor,
  deps: Deps,
  known: InvoiceRow,
  file: InvoiceFile,
  signal: AbortSignal,
): Promise<'ingested' | 'overtaken'> {
  // Two ingests of one invoice take turns; the second finds that the invoice is no longer as it was when it began.
  const invoice = await lockInvoice(tx, known.id)
  if (!invoice || invoice.ingest_count !== known.ingest_count) return 'overtaken'
  await deleteLines(tx, invoice.id)
  const assignmentOf = handAssigned(await listAssignments(tx, invoice.id))
  const byHand: AssignedLine[] = []
  const hash = createHash('sha256')
  let unhashed = ''
  const batch = new LineBatch()
  const take = (line: InvoiceLine) => {
    const id = newId()
    unhashed += contentOf(line)
    const assignment = assignmentOf(line)
    if (assignment) byHand.push({ id, ...assignment })
    batch.add(id, line)
  }
  let writing: Promise<unknown> = Promise.resolve()
  const write = async (currency: string) => {
    const insert = batch.take(invoice, currency)
    hash.update(unhashed)
    unhashed = ''
    await writing
    writing = insert.execute(tx)
    // Its failure is met by whoever waits for it next.
    writing.catch(() => {})
  }
  let read: Reading | undefined
  try {
    for await (read of readInvoiceFile(file.open(), take)) {
      signal.throwIfAborted()
      if (batch.size >= LINES_A_BATCH) await write(read.currency)
    }
    if (read && batch.size > 0) await write(read.currency)
    await writing
  } finally {
    // Nothing may be under way on this connection when the transaction is rolled back.
    await writing.catch(() => {})
  }
  const { currency, lines } = read!
  if (lines === 0 && Number(invoice.amount) !== 0)
    throw new InvoiceFileError(`there are no lines, though the invoice is over ${invoice.amount}`)
  await assignLines(tx, byHand)
  await finishIngest(tx, invoice.id, {
    currency,
    sha256: file.sha256,
    // The month and the currency too: finance is told of them with the lines.
    lines_hash: hash.update(`${invoice.period} ${currency}`).digest('hex'),
    ingested_at: deps.clock.now().toISOString(),
  })
  await requestPush(tx, deps, invoice.id)
  return 'ingested'
}
