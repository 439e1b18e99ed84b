// Fetches an invoice's lines and puts them in the place of those it had. The whole set changes in one transaction, or
// nothing does: whatever is wrong with the file, the old set stands, and the invoice says why. Where a storage backend is
// active, the raw file is put there first, and the same transaction records it.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { ProviderBusyError } from '../../integrations/digitalocean/index.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { JobRun, JobType } from '../../kernel/queue/queues.ts'
import { alreadyRunning, untilSettled } from '../../kernel/queue/settling.ts'
import { keepFile, recordFile } from '../storage-backends/index.ts'
import { handAssigned, type InvoiceLine } from './cost-line.ts'
import { contentOf, InvoiceFileError } from './csv-line.ts'
import type { InvoiceRow, ShownInvoice } from './invoice.ts'
import {
  type DownloadedFile,
  fileKey,
  type Reading,
  readInvoiceFile,
  withInvoiceFile,
} from './invoice-file.ts'
import {
  findInvoice,
  finishIngest,
  lockInvoice,
  markFailed,
  markUnchanged,
  showInvoice,
} from './invoice-store.ts'
import { LineBatch } from './line-batch.ts'
import { type AssignedLine, assignLines, deleteLines, listAssignments } from './line-store.ts'
import { rematchLines } from './match-lines.ts'
import { requestPush } from './push-invoice.ts'

const Ingest = Type.Object({ invoice_id: Type.String(), postponed: Type.Optional(Type.Integer()) })
export const ingestJob: JobType<typeof Ingest> = {
  name: 'ingest_invoice',
  queue: 'cloud_billing',
  payload: Ingest,
}

/** Null when the invoice's ingest is queued or running already. */
export const sendIngest = (
  { jobs }: Pick<Deps, 'jobs'>,
  tx: Executor,
  invoiceId: string,
): Promise<string | null> => jobs.send(tx, ingestJob, { invoice_id: invoiceId }, { key: invoiceId })

/** An operator asks for an invoice to be fetched again. An ingest that waits after a failure runs now. */
export const requestIngest = (deps: Deps, id: string): Promise<ShownInvoice> =>
  untilSettled(() =>
    transaction(deps.db, async tx => {
      const invoice = await showInvoice(tx, id)
      if (!invoice) throw notFound()
      const sent =
        (await deps.jobs.hurry(tx, ingestJob, { key: id })) || (await sendIngest(deps, tx, id)) !== null
      if (!sent) {
        const isOver = invoice.ingest_status === 'ingested'
        throw alreadyRunning('This invoice is queued or being fetched already.', isOver)
      }
      await recordRequest(tx, { subjectType: 'cloud_invoices', subjectId: id })
      return invoice
    }),
  )

/** overtaken: another ingest of the invoice finished first, and this one's file may be older than that one's. */
export type IngestOutcome = 'ingested' | 'unchanged' | 'overtaken'

export async function ingestInvoice(
  deps: Deps,
  invoiceId: string,
  { signal, log }: Pick<JobRun, 'signal' | 'log'>,
): Promise<IngestOutcome> {
  const { db, providers, clock } = deps
  const now = () => clock.now().toISOString()
  const invoice = await findInvoice(db, invoiceId)
  if (!invoice) throw notFound()
  const { invoice_uuid, ingest_count } = invoice
  try {
    const outcome = await withInvoiceFile(
      () => providers.for('cloud_billing').invoiceCsv(invoice_uuid, { signal }),
      signal,
      async file => {
        const key = fileKey(invoice_uuid, file.sha256)
        const kept = await keepFile(deps, { invoiceId, key, ...file }, signal)
        return transaction(db, async tx => {
          const outcome =
            file.sha256 === invoice.sha256
              ? await keepLines(tx, deps, invoice)
              : await replaceLines(tx, deps, invoice, file, signal)
          // One that was overtaken may have been put for nothing; under its own hash it is in nobody's way.
          if (kept && outcome !== 'overtaken') await recordFile(tx, kept)
          return outcome
        })
      },
    )
    // The inventory may have learnt since what the lines are for.
    if (outcome === 'unchanged') await rematchLines(deps, signal, invoice)
    log.info({ invoice_uuid, outcome }, 'invoice fetched')
    return outcome
  } catch (error) {
    // A job that is told to stop, or to come back later, has not failed.
    if (!signal.aborted && !(error instanceof ProviderBusyError)) {
      await markFailed(db, { id: invoiceId, ingest_count }, reasonOf(error), now())
    }
    throw error
  }
}

/** The file is the one that is known. Whoever waited for it goes on. */
async function keepLines(tx: Executor, deps: Deps, known: InvoiceRow): Promise<'unchanged' | 'overtaken'> {
  if (!(await markUnchanged(tx, known, deps.clock.now().toISOString()))) return 'overtaken'
  if (known.awaits_file) await requestPush(tx, deps, known.id)
  return 'unchanged'
}

/** Enough for a statement's own cost not to matter, few enough to die young. */
const LINES_A_BATCH = 2_000

/** Reading goes on while a batch is being written, so that neither waits for the other. */
async function replaceLines(
  tx: Executor,
  deps: Deps,
  known: InvoiceRow,
  file: DownloadedFile,
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
    for await (read of readInvoiceFile(file.open(), invoice.currency, take)) {
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
  await finishIngest(tx, known, {
    currency,
    sha256: file.sha256,
    // The month and the currency too: finance is told of them with the lines.
    lines_hash: hash.update(`${invoice.period} ${currency}`).digest('hex'),
    ingested_at: deps.clock.now().toISOString(),
  })
  await requestPush(tx, deps, invoice.id)
  return 'ingested'
}
