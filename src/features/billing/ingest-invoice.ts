// Fetches an invoice's lines and puts them in the place of those it had. The whole set changes in one transaction, or
// nothing does: whatever is wrong with the file, the old set stands, and the invoice says why. Where a storage backend is
// active, the raw file is put there first, and the same transaction records it.
import type { Deps } from '../../deps.ts'
import { ProviderBusyError } from '../../integrations/digitalocean/index.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import type { JobRun } from '../../kernel/queue/queues.ts'
import { keepFile, recordFile } from '../storage-backends/index.ts'
import { withInvoiceFile } from './download-invoice.ts'
import { fileKey } from './file-key.ts'
import { rematchLines } from './rematch-lines.ts'
import { replaceLines } from './replace-lines.ts'
import { findInvoice, markFailed, markUnchanged } from './repository.ts'
import type { InvoiceRow } from './tables.ts'

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
              ? await unchanged(tx, invoice, now())
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

const unchanged = async (
  tx: Executor,
  invoice: InvoiceRow,
  at: string,
): Promise<'unchanged' | 'overtaken'> => ((await markUnchanged(tx, invoice, at)) ? 'unchanged' : 'overtaken')
