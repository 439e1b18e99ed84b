// Droplets that runs have left behind are taken down by themselves: one that shows up at the provider after its create's
// answer was lost and its compensation had found nothing, and one whose compensation could not destroy it. Only what
// carries the tag of a run that was rolled back, and of no other, that nobody keeps and no other tenant has; asked again
// of the provider and of the database right before. What a run left that `failed` is an operator's to judge.
import type { Deps } from '../../deps.ts'
import { idText, type Provider, type RawItem } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { JobRun, Task } from '../../kernel/queue/queues.ts'
import { beginLook } from '../inventory/index.ts'
import { isLeftBehind, listRolledBack } from './leak-repository.ts'
import { recordDestroyed } from './record-destroyed.ts'
import { SAGA_TAG, sagaTag } from './tags.ts'

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
        // It stays listed, and the next round comes to it again.
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
