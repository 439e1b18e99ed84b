// Lines that nothing matched, matched again: the inventory learns of resources after the invoice that charges for them
// was read. Finance is told nothing new by it: what lines say has not changed, only whose they are.
import type { Deps } from '../../deps.ts'
import { matchPage } from './line-repository.ts'
import type { Place } from './list-lines.ts'
import type { InvoiceRow } from './tables.ts'

const LINES_A_PAGE = 5_000

/** Of one invoice, or of all; a page in a statement of its own. Returns how many were matched. */
export async function rematchLines(
  { db }: Deps,
  signal: AbortSignal,
  invoice?: Pick<InvoiceRow, 'id'>,
): Promise<number> {
  let after: Place | null = null
  let matched = 0
  for (;;) {
    signal.throwIfAborted()
    const page: Awaited<ReturnType<typeof matchPage>> = await matchPage(db, {
      after,
      limit: LINES_A_PAGE,
      invoiceId: invoice?.id ?? null,
    })
    matched += page.matched
    if (!page.last) return matched
    after = page.last
  }
}
