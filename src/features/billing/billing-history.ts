// The daily look at the provider's invoices: headers are kept, and what is not ingested yet is asked for, in one
// transaction. The preview is no invoice, and the provider's client leaves it out.
import type { Deps } from '../../deps.ts'
import type { InvoiceHeader } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { sendIngest, sendRematch } from './jobs.ts'
import { type ListedInvoice, listToIngest, upsertInvoices } from './repository.ts'

export const billingHistory = (deps: Deps): Task => ({
  name: 'billing_history',
  description: 'Lists the provider’s invoices, and fetches the lines of those that are not ingested yet.',
  queue: 'cloud_billing',
  cron: '23 2 * * *',
  async run({ signal, log }) {
    const { db, providers, clock } = deps
    const provider = providers.for('cloud_billing')
    if (provider.absent) throw new Error(provider.absent)
    const { items, complete, reason, odd } = await provider.invoices({ signal })
    const listed = items.map(listedInvoice)
    await transaction(db, async tx => {
      await upsertInvoices(tx, listed, clock.now().toISOString())
      for (const id of await listToIngest(tx)) await sendIngest(deps, tx, id)
      await sendRematch(deps, tx)
    })
    log.info({ invoices: listed.length, complete }, 'invoices listed')
    // What was listed is kept; that something is missing, or makes no sense, is said and tried again.
    if (!complete) throw new Error(`the list of invoices is not whole: ${reason}`)
    if (odd !== null) throw new Error(`an invoice was left out: ${odd}`)
  },
})

const listedInvoice = (header: InvoiceHeader): ListedInvoice => ({
  invoice_uuid: header.invoice_uuid,
  invoice_number: header.invoice_id,
  period: `${header.invoice_period}-01`,
  amount: header.amount,
})
