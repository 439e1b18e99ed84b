// An operator asks for an invoice to be pushed now: also one that finance has been told of already.

import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { forgetPushed } from './push-repository.ts'
import { findInvoice, holdInvoice } from './repository.ts'
import { requestPushNow } from './request-push.ts'
import type { InvoiceRow } from './tables.ts'

export function orderPush(deps: Deps, id: string): Promise<InvoiceRow> {
  return transaction(deps.db, async tx => {
    const invoice = await findInvoice(tx, id)
    if (!invoice) throw notFound()
    if (!deps.finance) {
      throw conflict('finance_not_configured', 'There is no finance service: FINANCE_URL is not set.')
    }
    if (invoice.lines_hash === null) {
      throw conflict('not_ingested', 'This invoice has no lines yet: there is nothing to tell finance.')
    }
    // An ingest that is under way will ask for the push itself, and is not waited for.
    await holdInvoice(tx, id)
    // Marked with the invoice, so that a job that is lost is made up for like any other push.
    await forgetPushed(tx, id)
    await requestPushNow(tx, deps, id)
    await recordRequest(tx, { subjectType: 'cloud_invoices', subjectId: id })
    return (await findInvoice(tx, id))!
  })
}
