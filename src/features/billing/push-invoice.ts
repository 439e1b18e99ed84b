// Tells finance of one invoice: its lines as they stand, once. What is kept of the receipt is kept only if the lines are
// still those that were sent; an answer that is lost leads to a second push of the same invoice, which finance knows again.

import { Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import { type Finance, FinanceError, type Receipt } from '../../integrations/finance/index.ts'
import { payloadText } from './payload.ts'
import {
  beginPush,
  forgetPushed,
  linesToPush,
  OvertakenError,
  type PushedInvoice,
  recordFinanceError,
  recordReceipt,
} from './push-repository.ts'

/** Small invoices are sent in one piece, with their length; larger ones as they are read. */
const SENT_WHOLE = 1_000
const MOST_OVERTAKINGS = 3

export type PushOutcome = 'pushed' | 'nothing_to_push' | 'no_finance'

export async function pushInvoice(
  deps: Deps,
  id: string,
  run: { signal?: AbortSignal; log: Logger },
): Promise<PushOutcome> {
  const { db, clock, finance } = deps
  if (!finance) return 'no_finance'
  for (let overtaken = 0; overtaken < MOST_OVERTAKINGS; overtaken++) {
    const invoice = await beginPush(db, id)
    if (!invoice) return 'nothing_to_push'
    try {
      const receipt = await send(deps, finance, invoice, run.signal)
      if (await recordReceipt(db, invoice, receipt, clock.now().toISOString())) {
        run.log.info({ invoice_id: id, finance_invoice_id: receipt.id, action: receipt.action }, 'pushed')
        return 'pushed'
      }
      await forgetPushed(db, id)
    } catch (error) {
      if (error instanceof FinanceError) {
        await recordFinanceError(db, id, error.message, clock.now().toISOString())
      }
      if (!(error instanceof OvertakenError)) throw error
    }
    run.log.info({ invoice_id: id }, 'the lines were replaced during the push: finance is told again')
  }
  throw new OvertakenError()
}

async function send(
  { db }: Deps,
  finance: Finance,
  invoice: PushedInvoice,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  const pieces = payloadText(invoice, finance.tenantId, linesToPush(db, invoice))
  if ((invoice.line_count ?? 0) <= SENT_WHOLE) {
    let body = ''
    for await (const piece of pieces) body += piece
    return finance.importInvoice(body, { signal })
  }
  let failure: unknown
  const body = Readable.from(watched(pieces, error => (failure = error)))
  try {
    return await finance.importInvoice(body, { signal })
  } catch (error) {
    // A body that cannot be finished ends the request too, and it is not finance that failed.
    throw failure ?? error
  }
}

async function* watched(pieces: AsyncIterable<string>, onFailure: (error: unknown) => void) {
  try {
    yield* pieces
  } catch (error) {
    onFailure(error)
    throw error
  }
}
