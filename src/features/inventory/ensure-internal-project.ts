// The first sync makes sure that the internal project exists: the provider's default project, the platform tenant's.
import type { Deps } from '../../deps.ts'
import type { RawItem } from '../../integrations/digitalocean/index.ts'
import type { ListingRemarks } from './listing-remarks.ts'
import { beginLook } from './look.ts'
import { internalProjectExists, type SeenProject, upsertProjects } from './project-repository.ts'
import { fitText, isStorableId } from './storable.ts'

export async function ensureInternalProject({ db, providers, clock, platformTenantId }: Deps): Promise<void> {
  if (await internalProjectExists(db)) return
  const look = await beginLook(db, clock)
  const project = seenProject(await providers.for('cloud_sync_full').getDefaultProject())
  if (project) await upsertProjects(db, [{ ...project, is_default: true }], look, platformTenantId)
}

/** Null for what cannot be stored under its id. */
export function seenProject(raw: RawItem, remarks?: ListingRemarks): SeenProject | null {
  const { id, name, description, is_default } = raw
  if (typeof id !== 'string' || id === '') return null
  if (!isStorableId(id)) {
    remarks?.setAside(id, 'its id cannot be stored')
    return null
  }
  const cut: string[] = []
  const text = (value: unknown, field: string) =>
    typeof value === 'string' && value !== ''
      ? fitText(value.replaceAll('\0', '').toWellFormed(), field, cut)
      : null
  const seen = {
    provider_id: id,
    name: text(name, 'name') ?? id,
    description: text(description, 'description'),
    is_default: is_default === true,
  }
  if (cut.length > 0) remarks?.cut(id, cut)
  return seen
}
