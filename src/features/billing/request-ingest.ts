// An operator asks for an invoice to be fetched again. A file that has not changed changes nothing but the lines that had
// no match.

import { recordAct } from '../../kernel/audit-entry.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import type { BillingKernel } from './billing-kernel.ts'
import { hurryIngest, sendIngest } from './jobs.ts'
import { findInvoice } from './repository.ts'
import type { InvoiceRow } from './tables.ts'

export function requestIngest(kernel: BillingKernel, id: string): Promise<InvoiceRow> {
  return transaction(kernel.db, async tx => {
    const invoice = await findInvoice(tx, id)
    if (!invoice) throw notFound()
    const asked = (await hurryIngest(kernel, tx, id)) || (await sendIngest(kernel, tx, id)) !== null
    if (!asked) throw conflict('already_running', 'This invoice is queued or being fetched already.')
    await recordAct(tx, { subjectType: 'cloud_invoices', subjectId: id })
    return invoice
  })
}
