// An operator asks for an invoice to be fetched again. A file that has not changed changes nothing but the lines that had
// no match.

import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { hurryIngest, sendIngest } from './jobs.ts'
import { findInvoice } from './repository.ts'
import type { InvoiceRow } from './tables.ts'

export function requestIngest(deps: Deps, id: string): Promise<InvoiceRow> {
  return transaction(deps.db, async tx => {
    const invoice = await findInvoice(tx, id)
    if (!invoice) throw notFound()
    const asked = (await hurryIngest(deps, tx, id)) || (await sendIngest(deps, tx, id)) !== null
    if (!asked) throw conflict('already_running', 'This invoice is queued or being fetched already.')
    await recordRequest(tx, { subjectType: 'cloud_invoices', subjectId: id })
    return invoice
  })
}
