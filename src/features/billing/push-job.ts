// The push as a job. What finance cannot take now is tried again by the queue, with growing pauses; what is still not told
// after the last attempt stays marked, and finance-push.ts asks for it again. So no outage leaves dead letters behind.

import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { FinanceError } from '../../integrations/finance/index.ts'
import { handle, type JobHandler, type JobType, QUEUES } from '../../kernel/queue/queues.ts'
import { pushInvoice } from './push-invoice.ts'

const Payload = Type.Object({ invoice_id: Type.String() })

export const pushInvoiceJob: JobType<typeof Payload> = {
  name: 'push_invoice',
  queue: 'cloud_billing',
  payload: Payload,
}

const RETRIES = QUEUES[pushInvoiceJob.queue].retryLimit

export const pushHandlers = (deps: Deps): JobHandler[] => [
  handle(pushInvoiceJob, async ({ invoice_id }, run) => {
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
  }),
]
