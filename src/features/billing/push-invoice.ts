// Tells finance of an invoice: the amounts split as the specification says, in whole minor units, and every line. Pushes
// are asked for in the transaction that gave the invoice its lines, by an operator, and for all that finance has missed.
// Finance knows an invoice again, so a receipt that is lost leads to a second push and not to a second invoice.
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { type Finance, FinanceError, type Receipt } from '../../integrations/finance/index.ts'
import { recordRequest } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import type { Key } from '../../kernel/http/pages.ts'
import type { JobRun, JobType } from '../../kernel/queue/queues.ts'
import { monthOf } from '../../kernel/time.ts'
import { PROVIDER } from '../inventory/index.ts'
import type { InvoiceRow, ShownInvoice } from './invoice.ts'
import {
  beginPush,
  findInvoice,
  forgetPushed,
  listToPush,
  lockAgainstIngest,
  type PushedInvoice,
  recordFinanceError,
  recordReceipt,
  showInvoice,
} from './invoice-store.ts'
import { countLineSets, listPayloadLines, type PayloadLine } from './line-store.ts'

const PushInvoice = Type.Object({ invoice_id: Type.String() })
export const pushInvoiceJob: JobType<typeof PushInvoice> = {
  name: 'push_invoice',
  queue: 'cloud_billing',
  payload: PushInvoice,
}

/** Finance may be slow or away, and there may be many of these: the provider's own data comes first. */
const PRIORITY = -1
const AT_ONCE = 1
const INVOICES_AT_A_TIME = 1_000

/** One push of an invoice is queued or running at a time; a running one notices that the lines have changed. */
export async function requestPush(
  tx: Executor,
  { jobs, finance }: Pick<Deps, 'jobs' | 'finance'>,
  invoiceId: string,
): Promise<void> {
  if (!finance) return
  await jobs.send(tx, pushInvoiceJob, { invoice_id: invoiceId }, { key: invoiceId, priority: PRIORITY })
}

/** An operator asks for a push now, also of an invoice that finance knows. */
export function requestPushNow(deps: Deps, id: string): Promise<ShownInvoice> {
  const { jobs, finance } = deps
  return transaction(deps.db, async tx => {
    const invoice = await findInvoice(tx, id)
    if (!invoice) throw notFound()
    if (!finance) {
      throw conflict('finance_not_configured', 'There is no finance service: FINANCE_URL is not set.')
    }
    if (invoice.lines_hash === null) {
      throw conflict('not_ingested', 'This invoice has no lines yet: there is nothing to tell finance.')
    }
    if (invoice.awaits_file) {
      const message = 'The provider has changed this invoice: it is pushed when its new file has been read.'
      throw conflict('not_ingested', message)
    }
    // An ingest that is under way will ask for the push itself, and is not waited for.
    await lockAgainstIngest(tx, id)
    // Marked with the invoice, so that a job that is lost is made up for like any other push.
    await forgetPushed(tx, id)
    // A push that waits, after a failure say, goes out now instead.
    const options = { key: id, priority: AT_ONCE }
    if (!(await jobs.hurry(tx, pushInvoiceJob, options)))
      await jobs.send(tx, pushInvoiceJob, { invoice_id: id }, options)
    await recordRequest(tx, { subjectType: 'cloud_invoices', subjectId: id })
    return (await showInvoice(tx, id))!
  })
}

/** Asks for every push that finance has missed, whatever the reason was. Returns how many invoices wait for finance. */
export async function requestMissingPushes({
  db,
  jobs,
  finance,
}: Pick<Deps, 'db' | 'jobs' | 'finance'>): Promise<number> {
  if (!finance) return 0
  let [count, after]: [number, string | null] = [0, null]
  for (;;) {
    const ids: string[] = await listToPush(db, after, INVOICES_AT_A_TIME)
    await jobs.sendAll(
      db,
      pushInvoiceJob,
      ids.map(id => ({ payload: { invoice_id: id }, key: id })),
      { priority: PRIORITY },
    )
    count += ids.length
    if (ids.length < INVOICES_AT_A_TIME) return count
    after = ids.at(-1)!
  }
}

export class OvertakenError extends Error {
  constructor() {
    super('the lines were replaced while they were being pushed')
  }
}

/** Small invoices are sent in one piece, with their length; larger ones as they are read. */
const SENT_WHOLE = 1_000
const LINES_AT_A_TIME = 1_000
const MOST_OVERTAKINGS = 3

export type PushOutcome = 'pushed' | 'nothing_to_push' | 'no_finance'

/** The lines as they stand, once. The receipt is kept only if the lines are still those that were sent. */
export async function pushInvoice(
  deps: Pick<Deps, 'db' | 'clock' | 'finance'>,
  id: string,
  { signal, log }: Partial<Pick<JobRun, 'signal'>> & Pick<JobRun, 'log'>,
): Promise<PushOutcome> {
  const { db, clock, finance } = deps
  if (!finance) return 'no_finance'
  for (let overtaken = 0; overtaken < MOST_OVERTAKINGS; overtaken++) {
    const invoice = await beginPush(db, id)
    if (!invoice) return 'nothing_to_push'
    try {
      const receipt = await send(db, finance, invoice, signal)
      if (await recordReceipt(db, invoice, receipt, clock.now().toISOString())) {
        log.info({ invoice_id: id, finance_invoice_id: receipt.id, action: receipt.action }, 'pushed')
        return 'pushed'
      }
      await forgetPushed(db, id)
    } catch (error) {
      if (error instanceof FinanceError) {
        await recordFinanceError(db, id, error.message, clock.now().toISOString())
      }
      if (!(error instanceof OvertakenError)) throw error
    }
    log.info({ invoice_id: id }, 'the lines were replaced during the push: finance is told again')
  }
  throw new OvertakenError()
}

async function send(
  db: Executor,
  finance: Finance,
  invoice: PushedInvoice,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  const pieces = payloadText(invoice, finance.tenantId, linesOf(db, invoice))
  if ((invoice.line_count ?? 0) <= SENT_WHOLE) {
    let body = ''
    for await (const piece of pieces) body += piece
    return finance.importInvoice(body, { signal })
  }
  let failure: unknown
  async function* watched() {
    try {
      yield* pieces
    } catch (error) {
      failure = error
      throw error
    }
  }
  try {
    return await finance.importInvoice(Readable.from(watched()), { signal })
  } catch (error) {
    // A body that cannot be finished ends the request too, and it is not finance that failed.
    throw failure ?? error
  }
}

/** A batch at a time, and never those of two sets: the sets are counted afterwards. */
async function* linesOf(db: Executor, { id, ingest_count }: PushedInvoice): AsyncGenerator<PayloadLine[]> {
  let after: Key | null = null
  for (;;) {
    const rows = await listPayloadLines(db, id, LINES_AT_A_TIME, after)
    yield rows.map(({ id: _, period: __, ...line }) => line)
    if (rows.length < LINES_AT_A_TIME) break
    const last: (typeof rows)[number] = rows.at(-1)!
    after = [last.period, last.id]
  }
  if ((await countLineSets(db, { invoice_id: id })) !== ingest_count) throw new OvertakenError()
}

export type PayloadInvoice = Pick<
  InvoiceRow,
  'invoice_uuid' | 'period' | 'currency' | 'line_count' | 'amount_net_minor' | 'amount_tax_minor'
>

/** Everything but the lines. */
export function payloadHead(invoice: PayloadInvoice, tenantId: string) {
  const { net, tax } = sumsOf(invoice)
  return {
    tenant_id: tenantId,
    source: PROVIDER,
    external_id: invoice.invoice_uuid,
    period_start: monthOf(invoice.period).first_day,
    period_end: monthOf(invoice.period).last_day,
    currency: invoice.currency,
    amount_net_minor: net,
    amount_tax_minor: tax,
    amount_gross_minor: net + tax,
  }
}

/**
 * The payload as JSON text, piece by piece as the lines come. The last piece is written only when the lines have turned
 * out to be those the amounts were summed from: until then what was sent is no JSON, and cannot be taken for an invoice.
 */
export async function* payloadText(
  invoice: PayloadInvoice,
  tenantId: string,
  batches: AsyncIterable<PayloadLine[]>,
): AsyncGenerator<string> {
  yield JSON.stringify(payloadHead(invoice, tenantId)).replace(/\}$/, ',"lines":[')
  const seen = { lines: 0, net: 0, tax: 0 }
  for await (const batch of batches) {
    if (batch.length === 0) continue
    for (const line of batch) seen[line.is_tax ? 'tax' : 'net'] += line.amount_minor
    yield (seen.lines > 0 ? ',' : '') + batch.map(line => JSON.stringify(line)).join(',')
    seen.lines += batch.length
  }
  const expected = sumsOf(invoice)
  if (seen.lines !== expected.lines || seen.net !== expected.net || seen.tax !== expected.tax) {
    throw new Error(
      `the lines are not what the invoice says: ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`,
    )
  }
  yield ']}'
}

function sumsOf({ line_count, amount_net_minor, amount_tax_minor }: PayloadInvoice) {
  if (line_count === null || amount_net_minor === null || amount_tax_minor === null) {
    throw new Error('an invoice without lines cannot be pushed')
  }
  return { lines: line_count, net: amount_net_minor, tax: amount_tax_minor }
}
