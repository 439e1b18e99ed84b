// The task that keeps the chain: new entries get their place, and checkpoints leave the database.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { publishCheckpoints } from './publish-checkpoints.ts'
import { sealEntries } from './seal-entries.ts'

export const auditSeal = (deps: Deps): Task => ({
  name: 'audit_seal',
  description: 'Adds new entries of the audit log to its chain, and publishes signed checkpoints of it.',
  queue: 'metering',
  cron: '* * * * *',
  async run({ log }) {
    const sealed = await sealEntries(deps)
    if (sealed > 0) log.info({ sealed }, 'audit entries sealed')
    await publishCheckpoints(deps)
  },
})
