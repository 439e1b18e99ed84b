// The hourly look at what the provider's account owes.

import type { Deps } from '../../deps.ts'
import { newId } from '../../kernel/ids.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { PROVIDER } from '../inventory/index.ts'
import { insertBalance } from './repository.ts'

/** The provider names no currency for the balance; it charges in this one. */
const CURRENCY = 'USD'

export const recordBalance = ({ db, providers, clock }: Deps): Task => ({
  name: 'balance',
  description: 'Records the provider’s balance and the month’s usage so far.',
  queue: 'cloud_billing',
  cron: '7 * * * *',
  async run({ signal }) {
    const provider = providers.for('cloud_billing')
    if (provider.absent) throw new Error(provider.absent)
    const balance = await provider.balance({ signal })
    const recorded_at = clock.now().toISOString()
    await insertBalance(db, { id: newId(), provider: PROVIDER, currency: CURRENCY, recorded_at, ...balance })
  },
})
