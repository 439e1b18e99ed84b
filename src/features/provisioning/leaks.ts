// The task that destroys droplets which runs have left behind: one that appears at the provider after the response to its
// create was lost and its compensation had found nothing, and one that its compensation could not destroy. Only droplets
// with the tag of a run that was rolled back, and of no other run, that nobody keeps and that are not another tenant's;
// provider and database are asked again right before. What a `failed` run left is for an operator to decide.
import type { Deps } from '../../deps.ts'
import { idText, type Provider, type RawItem } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun, Task } from '../../kernel/queue/queues.ts'
import { beginLook } from '../inventory/index.ts'
import { SAGA_TAG, sagaTag } from './provisioning.ts'
import { recordDestroyed } from './steps/record-deletions.ts'
import { isLeftBehind, listRolledBack } from './store.ts'

export const leakCleanup = (deps: Deps): Task => ({
  name: 'leak_cleanup',
  description: 'Destroys droplets that carry the tag of a saga which was rolled back, and that nobody keeps.',
  queue: 'cloud_sync_fast',
  ownQueue: true,
  cron: '*/2 * * * *',
  async run(run) {
    if (!deps.providers.for('provisioning').absent) await takeDownLeaks(deps, run)
  },
})

/** How many were taken down. */
export async function takeDownLeaks(
  deps: Deps,
  { signal, log }: Pick<JobRun, 'signal' | 'log'>,
): Promise<number> {
  const provider = deps.providers.for('provisioning')
  let taken = 0
  for (const sagaId of await listRolledBack(deps.db)) {
    for (const droplet of await provider.findDropletsByTag(sagaTag(sagaId), { signal })) {
      const providerId = idText(droplet.id)
      if (providerId === null) continue
      try {
        if (!(await takeDown(deps, provider, { sagaId, providerId, signal }))) continue
        taken++
        log.warn({ saga_id: sagaId, droplet_id: providerId }, 'leak taken down')
      } catch (err) {
        // It stays listed, and the next round tries again.
        log.error({ err, saga_id: sagaId, droplet_id: providerId }, 'leak could not be taken down')
      }
    }
  }
  return taken
}

async function takeDown(
  deps: Deps,
  provider: Provider,
  { sagaId, providerId, signal }: { sagaId: string; providerId: string; signal: AbortSignal },
): Promise<boolean> {
  const look = await beginLook(deps.db, deps.clock)
  const droplet = await provider.get('droplet', providerId, { signal })
  const sagas = droplet ? sagasOf(droplet) : []
  if (!droplet || !sagas.includes(sagaId) || !(await isLeftBehind(deps.db, sagas, providerId))) return false
  await provider.destroyDroplet(providerId, { signal })
  const gone = async () => ((await provider.get('droplet', providerId, { signal })) ? undefined : true)
  if (!(await provider.poll(gone, { signal }))) return false
  await transaction(deps.db, tx =>
    recordDestroyed(tx, deps, sagaId, { providerIds: [providerId], seen: { droplets: [droplet], look } }),
  )
  return true
}

/** The ids that its tags name. */
const sagasOf = ({ tags }: RawItem): string[] =>
  (Array.isArray(tags) ? tags.map(String) : [])
    .filter(tag => tag.startsWith(SAGA_TAG))
    .map(tag => tag.slice(SAGA_TAG.length))
