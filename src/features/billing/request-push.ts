// Asks for pushes: of an invoice, in the transaction that gave it its lines; and of all that finance has not heard of,
// whatever the reason was. Without a finance service nothing is asked for.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { pushInvoiceJob } from './push-job.ts'
import { listToPush } from './push-repository.ts'

/** Finance may be slow or away, and there may be many of these: the provider's own data comes first. */
const PRIORITY = -1
const AT_ONCE = 1
const AT_A_TIME = 1_000

/** One push of an invoice is queued or running at a time; a running one notices that the lines have changed. */
export async function requestPush(
  tx: Executor,
  { jobs, finance }: Pick<Deps, 'jobs' | 'finance'>,
  invoiceId: string,
): Promise<void> {
  if (!finance) return
  await jobs.send(tx, pushInvoiceJob, { invoice_id: invoiceId }, { key: invoiceId, priority: PRIORITY })
}

/** The same, for whoever does not want to wait: a push that waits, after a failure say, goes out now instead. */
export async function requestPushNow(
  tx: Executor,
  { jobs, finance }: Pick<Deps, 'jobs' | 'finance'>,
  invoiceId: string,
): Promise<void> {
  if (!finance) return
  const order = { key: invoiceId, priority: AT_ONCE }
  if (await jobs.hurry(tx, pushInvoiceJob, order)) return
  await jobs.send(tx, pushInvoiceJob, { invoice_id: invoiceId }, order)
}

/** How many invoices wait for finance. */
export async function requestMissingPushes({ db, jobs, finance }: Deps): Promise<number> {
  if (!finance) return 0
  let [count, after]: [number, string | null] = [0, null]
  for (;;) {
    const ids: string[] = await listToPush(db, after, AT_A_TIME)
    await jobs.sendAll(
      db,
      pushInvoiceJob,
      ids.map(id => ({ payload: { invoice_id: id }, key: id })),
      { priority: PRIORITY },
    )
    count += ids.length
    if (ids.length < AT_A_TIME) return count
    after = ids.at(-1)!
  }
}
