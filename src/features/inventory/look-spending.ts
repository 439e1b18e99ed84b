// What looking between the sweeps asks of the provider, counted for all processes and jobs together, and whether it may ask
// more: a quarter of the rate limit at most, and nothing while others wait for it.
import type { Deps } from '../../deps.ts'
import type { Provider } from '../../integrations/digitalocean/index.ts'
import { listSpent, noteSpent } from './feed-store.ts'
import { lookBudget, lookShare } from './look-budget.ts'

/** Following the provider's actions, or any other looking. */
export type Purpose = 'following' | 'other'

export interface Spending {
  /** Called for each request. */
  counted(): void
  /** How many there were. */
  requests(): number
  /** Whether so many may leave now. Following the actions goes first: all else leaves something for it. */
  may(requests: number, what: Purpose): Promise<boolean>
  /** Whether what is under way may ask once more: nobody waits for the provider, and the budget is not used up. */
  mayGoOn(): boolean
  /** Writes down what was asked, for everybody to see. */
  settle(): Promise<void>
}

type Parts = Pick<Deps, 'db' | 'clock' | 'metrics'>

export function openSpending({ db, clock, metrics }: Parts, provider: Provider): Spending {
  let requests = 0
  let settled = 0
  /** As many as there may be, by the last answer. */
  let most = 0
  return {
    counted() {
      requests += 1
    },
    requests: () => requests,
    async may(wanted, what) {
      if (provider.spare() < wanted) return false
      const now = clock.now()
      const left = lookBudget(provider, await listSpent(db, now), now, what === 'other')
      most = settled + left
      return requests + wanted <= most
    },
    mayGoOn: () => provider.spare() > 0 && requests < most,
    async settle() {
      const asked = requests - settled
      settled = requests
      await noteSpent(db, clock.now(), asked)
      metrics.lookRequests.inc(asked)
    },
  }
}

/** What part of the provider's rate limit looking takes, whichever process looked. */
export async function shareOfLooking({ db, clock, providers }: Deps): Promise<number> {
  const now = clock.now()
  return lookShare(providers.for('cloud_sync_fast'), await listSpent(db, now), now)
}
