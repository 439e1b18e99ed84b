// Looks at one resource again, outside the sweeps: for those whose status changes by itself. A resource that is not
// found is left as it is; only a whole listing may strike.
import type { Deps } from '../../deps.ts'
import { isTransitional, type Kind, mapItem } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { beginLook } from './look.ts'
import { seenResource } from './seen-resource.ts'
import { writeSeen } from './write-seen.ts'

export async function refreshResource(
  { db, providers, clock }: Deps,
  kind: Kind,
  providerId: string,
  signal?: AbortSignal,
): Promise<'moving' | 'still' | 'absent'> {
  const sighting = { kind, ...(await beginLook(db, clock)), actor: 'refresh' }
  const raw = await providers.for('cloud_sync_fast').get(kind, providerId, { signal })
  if (!raw) return 'absent'
  const item = mapItem(kind, raw)
  await transaction(db, tx => writeSeen(tx, sighting, seenResource(item)))
  return isTransitional(kind, item) ? 'moving' : 'still'
}
