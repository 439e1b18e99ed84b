// Billing's jobs: the ingest of one invoice, and the matching of lines that had no match.

import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { ProviderBusyError } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { handle, type JobHandler, type JobRun, type JobType } from '../../kernel/queue/queues.ts'
import { ingestInvoice } from './ingest-invoice.ts'
import { InvoiceFileError } from './invoice-file-error.ts'
import { rematchLines } from './rematch-lines.ts'

const Ingest = Type.Object({ invoice_id: Type.String(), postponed: Type.Optional(Type.Integer()) })
const ingestJob: JobType<typeof Ingest> = { name: 'ingest_invoice', queue: 'cloud_billing', payload: Ingest }

const Rematch = Type.Object({})
const rematchJob: JobType<typeof Rematch> = {
  name: 'rematch_lines',
  queue: 'cloud_billing',
  payload: Rematch,
}

/** Null when the invoice's ingest is queued or running already. */
export const sendIngest = ({ jobs }: Deps, tx: Executor, invoiceId: string): Promise<string | null> =>
  jobs.send(tx, ingestJob, { invoice_id: invoiceId }, { key: invoiceId })

/** An ingest that waits after a failure runs now; false when none does. */
export const hurryIngest = ({ jobs }: Deps, tx: Executor, invoiceId: string): Promise<boolean> =>
  jobs.hurry(tx, ingestJob, { key: invoiceId })

export const sendRematch = ({ jobs }: Deps, tx: Executor): Promise<string | null> =>
  jobs.send(tx, rematchJob, {}, { key: 'all' })

export function billingHandlers(deps: Deps): JobHandler[] {
  return [
    handle(ingestJob, ({ invoice_id, postponed = 0 }, run) => ingest(deps, invoice_id, postponed, run)),
    handle(rematchJob, async (_payload, { signal, log }) => {
      const matched = await rematchLines(deps, signal)
      log.info({ matched }, 'unmatched lines looked at again')
    }),
  ]
}

async function ingest(deps: Deps, invoiceId: string, postponed: number, run: JobRun): Promise<void> {
  try {
    await ingestInvoice(deps, invoiceId, run)
  } catch (error) {
    // The same file would come again. The invoice says what is wrong with it, and the next day's listing asks again.
    if (error instanceof InvoiceFileError) {
      run.log.error({ invoice_id: invoiceId, reason: error.message }, 'the invoice’s file cannot be read')
      return
    }
    if (!(error instanceof ProviderBusyError)) throw error
    // More patience than a job should have: it comes back later, under a key of its own because this one still runs.
    const delayMs = error.retryAfterMs
    await deps.jobs.send(
      deps.db,
      ingestJob,
      { invoice_id: invoiceId, postponed: postponed + 1 },
      { key: `${invoiceId}:${postponed + 1}`, delayMs },
    )
    run.log.warn(
      { invoice_id: invoiceId, retry_in_ms: delayMs },
      'the provider’s rate limit: ingest postponed',
    )
  }
}
