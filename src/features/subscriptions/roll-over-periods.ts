// On the first of a month every living subscription enters the new period.
import type { Kernel } from '../../kernel/kernel.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { monthOf } from '../../kernel/time.ts'
import { rollOver } from './repository.ts'

export const rollOverPeriods = ({ db, clock }: Kernel): Task => ({
  name: 'subscription_periods',
  description: 'Moves subscriptions whose period has ended into the current month.',
  queue: 'metering',
  cron: '1 0 1 * *',
  async run({ log }) {
    const now = clock.now()
    const moved = await rollOver(db, monthOf(now), now.toISOString())
    log.info({ moved }, 'subscription periods rolled over')
  },
})
