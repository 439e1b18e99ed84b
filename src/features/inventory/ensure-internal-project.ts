// The first sync makes sure that the internal project exists: the provider's default project, the platform tenant's.
import type { RawItem } from '../../integrations/digitalocean/index.ts'
import type { InventoryKernel } from './inventory-kernel.ts'
import { internalProjectExists, type SeenProject, upsertProjects } from './project-repository.ts'

export async function ensureInternalProject({
  db,
  providers,
  clock,
  platformTenantId,
}: InventoryKernel): Promise<void> {
  if (await internalProjectExists(db)) return
  const project = seenProject(await providers.for('cloud_sync_full').getDefaultProject())
  if (project)
    await upsertProjects(db, [{ ...project, is_default: true }], clock.now().toISOString(), platformTenantId)
}

export function seenProject(raw: RawItem): SeenProject | null {
  const { id, name, description, is_default } = raw
  if (typeof id !== 'string' || id === '') return null
  const text = (value: unknown) =>
    typeof value === 'string' && value !== '' ? value.replaceAll('\0', '').toWellFormed() : null
  return {
    provider_id: id,
    name: text(name) ?? id,
    description: text(description),
    is_default: is_default === true,
  }
}
