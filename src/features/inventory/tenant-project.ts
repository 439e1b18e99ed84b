// The project that holds a tenant's resources, as the mirror knows it, and a new one's entry there.
import type { Deps } from '../../deps.ts'
import type { RawItem } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { seenProject } from './ensure-internal-project.ts'
import { beginLook } from './look.ts'
import { lockProjectNamed, updateProject, upsertProjects } from './project-repository.ts'
import type { CloudProjectRow } from './tables.ts'
import { rehome } from './write-resources.ts'

export { findTenantProject } from './project-repository.ts'

/** In the caller's transaction. Undefined when an operator has given the project to someone else. */
export async function recordTenantProject(
  tx: Executor,
  { clock, platformTenantId }: Pick<Deps, 'clock' | 'platformTenantId'>,
  raw: RawItem,
  tenantId: string,
  actor: string,
): Promise<CloudProjectRow | undefined> {
  const project = seenProject(raw)
  if (!project) return undefined
  const look = await beginLook(tx, clock)
  await upsertProjects(tx, [project], look, platformTenantId)
  const row = (await lockProjectNamed(tx, project.provider_id))!
  if (row.tenant_id === tenantId && row.purpose === 'tenant') return row
  // A sweep has found it first, and nobody has said whose it is.
  if (row.tenant_id !== null || row.purpose !== 'unassigned') return undefined
  const given = await updateProject(tx, row.id, { tenant_id: tenantId, purpose: 'tenant' })
  await rehome(tx, look.at, actor, row.id)
  return given
}
