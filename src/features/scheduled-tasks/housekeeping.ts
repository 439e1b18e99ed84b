// The service tidies up after itself: runs of tasks are kept for 90 days.
import type { Kernel } from '../../kernel/kernel.ts'
import type { Task } from '../../kernel/queue/task.ts'
import { deleteRunsBefore } from './repository.ts'

const KEEP_DAYS = 90

export const housekeeping = ({ db, clock }: Kernel): Task => ({
  name: 'housekeeping',
  description: `Deletes records of task runs older than ${KEEP_DAYS} days.`,
  queue: 'metering',
  cron: '41 3 * * *',
  async run({ log }) {
    const before = new Date(clock.now().getTime() - KEEP_DAYS * 86_400_000).toISOString()
    const deleted = await deleteRunsBefore(db, before)
    log.info({ deleted }, 'old task runs deleted')
  },
})
