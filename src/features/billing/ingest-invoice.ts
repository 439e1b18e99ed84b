// Fetches an invoice's lines and puts them in the place of those it had. The whole set changes in one transaction, or
// nothing does: whatever is wrong with the file, the old set stands, and the invoice says why.
import { ProviderBusyError } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import type { JobRun } from '../../kernel/queue/job.ts'
import type { BillingKernel } from './billing-kernel.ts'
import { withInvoiceFile } from './download-invoice.ts'
import { rematchLines } from './rematch-lines.ts'
import { replaceLines } from './replace-lines.ts'
import { findInvoice, markFailed, markUnchanged } from './repository.ts'

/** overtaken: another ingest of the invoice finished first, and this one's file may be older than that one's. */
export type IngestOutcome = 'ingested' | 'unchanged' | 'overtaken'

const LONGEST_ERROR = 1_000

export async function ingestInvoice(
  kernel: BillingKernel,
  invoiceId: string,
  { signal, log }: Pick<JobRun, 'signal' | 'log'>,
): Promise<IngestOutcome> {
  const { db, providers, clock } = kernel
  const now = () => clock.now().toISOString()
  const invoice = await findInvoice(db, invoiceId)
  if (!invoice) throw notFound()
  const { invoice_uuid, ingest_count } = invoice
  try {
    const outcome = await withInvoiceFile(
      () => providers.for('cloud_billing').invoiceCsv(invoice_uuid, { signal }),
      signal,
      async file => {
        if (file.sha256 !== invoice.sha256)
          return transaction(db, tx => replaceLines(tx, kernel, invoice, file, signal))
        return (await markUnchanged(db, invoice, now())) ? 'unchanged' : 'overtaken'
      },
    )
    // The inventory may have learnt since what the lines are for.
    if (outcome === 'unchanged') await rematchLines(kernel, signal, invoice)
    log.info({ invoice_uuid, outcome }, 'invoice fetched')
    return outcome
  } catch (error) {
    // A job that is told to stop, or to come back later, has not failed.
    if (!signal.aborted && !(error instanceof ProviderBusyError)) {
      const message = error instanceof Error ? error.message : String(error)
      await markFailed(db, { id: invoiceId, ingest_count }, message.slice(0, LONGEST_ERROR), now())
    }
    throw error
  }
}
