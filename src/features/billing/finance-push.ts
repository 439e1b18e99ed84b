// The hourly look for invoices that finance has not heard of: because it was away for longer than the queue tries, because
// it was configured after they were ingested, or because a push was lost in any other way.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { requestMissingPushes } from './request-push.ts'

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
