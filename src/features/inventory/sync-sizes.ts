// Mirrors the provider's droplet sizes and what they cost by list.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { writeSizes } from './size-store.ts'

export const sizeSync = ({ db, providers, clock }: Deps): Task => ({
  name: 'size_sync',
  description: 'Mirrors the provider’s droplet sizes and their list prices.',
  queue: 'cloud_sync_slow',
  ownQueue: true,
  cron: '10 * * * *',
  async run({ signal, log }) {
    const provider = providers.for('cloud_sync_slow')
    if (provider.absent) throw new Error(provider.absent)
    const { items, complete, reason, odd } = await provider.sizes({ signal })
    await transaction(db, tx => writeSizes(tx, items, clock.now().toISOString()))
    log.info({ sizes: items.length, complete }, 'sizes listed')
    // What was listed is kept; that something is missing, or makes no sense, is said and tried again.
    if (!complete) throw new Error(`the list of sizes is not whole: ${reason}`)
    if (odd !== null) throw new Error(`a size was left out: ${odd}`)
  },
})
