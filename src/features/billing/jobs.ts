// Billing's jobs (an invoice's ingest and push, the matching of lines that had no match) and its scheduled tasks.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { type Account, ProviderBusyError, ProviderError } from '../../integrations/digitalocean/index.ts'
import { FinanceError } from '../../integrations/finance/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import {
  handle,
  type JobHandler,
  type JobRun,
  type JobType,
  QUEUES,
  type Task,
} from '../../kernel/queue/queues.ts'
import { PROVIDER } from '../inventory/index.ts'
import { writeAccount } from './account-store.ts'
import { InvoiceFileError } from './csv-line.ts'
import { ingestInvoice, ingestJob, sendIngest } from './ingest-invoice.ts'
import { insertBalance, listToIngest, upsertInvoices } from './invoice-store.ts'
import { rematchLines } from './match-lines.ts'
import { pushInvoice, pushInvoiceJob, requestMissingPushes } from './push-invoice.ts'

const Rematch = Type.Object({})
const rematchJob: JobType<typeof Rematch> = {
  name: 'rematch_lines',
  queue: 'cloud_billing',
  payload: Rematch,
}

export const billingHandlers = (deps: Deps): JobHandler[] => [
  handle(ingestJob, ({ invoice_id, postponed = 0 }, run) => ingest(deps, invoice_id, postponed, run)),
  handle(rematchJob, async (_payload, { signal, log }) => {
    const matched = await rematchLines(deps, signal)
    log.info({ matched }, 'unmatched lines looked at again')
  }),
  handle(pushInvoiceJob, ({ invoice_id }, run) => push(deps, invoice_id, run)),
]

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
    // Longer than a job should wait: it comes back later, under a key of its own because this one still runs.
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

const RETRIES = QUEUES[pushInvoiceJob.queue].retryLimit

/**
 * What finance cannot take now is tried again by the queue, with growing pauses; what is still not told after the last
 * attempt stays marked, and the hourly task asks for it again. So no outage leaves dead letters behind.
 */
async function push(deps: Deps, invoice_id: string, run: JobRun): Promise<void> {
  try {
    await pushInvoice(deps, invoice_id, run)
  } catch (error) {
    if (!(error instanceof FinanceError)) throw error
    if (error.fault !== 'refused' && run.attempt <= RETRIES) throw error
    run.log.warn(
      { invoice_id, fault: error.fault, err: error },
      'not pushed: asked for again within the hour',
    )
  }
}

/** The provider names no currency for the balance; it charges in this one. */
const CURRENCY = 'USD'

export const recordBalance = ({ db, providers, clock }: Deps): Task => ({
  name: 'balance',
  description: 'Records the provider’s balance and the month’s usage so far.',
  queue: 'cloud_billing',
  cron: '7 * * * *',
  async run({ signal }) {
    const provider = providers.for('cloud_billing')
    if (provider.absent) throw new Error(provider.absent)
    const balance = await provider.balance({ signal })
    const recorded_at = clock.now().toISOString()
    await insertBalance(db, { id: newId(), provider: PROVIDER, currency: CURRENCY, recorded_at, ...balance })
  },
})

/** A token may be allowed to read invoices but not the account: exports then name the account that is known. */
async function billedAccount(
  provider: ReturnType<Deps['providers']['for']>,
  { signal, log }: Pick<JobRun, 'signal' | 'log'>,
): Promise<Account | undefined> {
  try {
    return await provider.account({ signal })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    log.warn({ err: error }, 'the provider does not say whose account this is')
    return undefined
  }
}

/** Headers are kept, and what is not ingested yet is asked for, in one transaction. */
export const billingHistory = (deps: Deps): Task => ({
  name: 'billing_history',
  description:
    'Lists the provider’s invoices with the account they are for, and fetches the lines of those that are not ingested yet.',
  queue: 'cloud_billing',
  cron: '23 2 * * *',
  async run({ signal, log }) {
    const { db, providers, clock, jobs } = deps
    const provider = providers.for('cloud_billing')
    if (provider.absent) throw new Error(provider.absent)
    const { items, complete, reason, odd } = await provider.invoices({ signal })
    const account = await billedAccount(provider, { signal, log })
    const listed = items.map(({ invoice_uuid, invoice_id, invoice_period, amount }) => ({
      invoice_uuid,
      invoice_number: invoice_id,
      period: `${invoice_period}-01`,
      amount,
    }))
    await transaction(db, async tx => {
      const now = clock.now().toISOString()
      if (account) await writeAccount(tx, account, now)
      await upsertInvoices(tx, listed, now)
      for (const id of await listToIngest(tx)) await sendIngest(deps, tx, id)
      await jobs.send(tx, rematchJob, {}, { key: 'all' })
    })
    log.info({ invoices: listed.length, complete }, 'invoices listed')
    // What was listed is kept; that something is missing, or makes no sense, is said and tried again.
    if (!complete) throw new Error(`the list of invoices is not whole: ${reason}`)
    if (odd !== null) throw new Error(`an invoice was left out: ${odd}`)
  },
})

/** Finance may have been away for longer than the queue tries, or have been configured later. */
export const financePush = (deps: Deps): Task => ({
  name: 'finance_push',
  description: 'Asks again for the push of every invoice that finance does not know as it stands.',
  queue: 'cloud_billing',
  cron: '37 * * * *',
  async run({ log }) {
    const count = await requestMissingPushes(deps)
    if (count > 0) log.info({ invoices: count }, 'invoices wait for finance')
  },
})
