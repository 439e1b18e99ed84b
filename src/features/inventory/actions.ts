// What operators, sweeps and sagas do with projects and single resources.

import type { Deps } from '../../deps.ts'
import {
  type CallOptions,
  isKind,
  isTransitional,
  type Kind,
  mapItem,
  type RawItem,
} from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import type { CloudProjectRow, Purpose } from './project.ts'
import { seenProject } from './project.ts'
import {
  internalProjectExists,
  lockProject,
  lockProjectNamed,
  updateProject,
  upsertProjects,
} from './project-store.ts'
import { seenResource } from './seen-resource.ts'
import type { SyncRunRow } from './sync-run.ts'
import { beginLook, lockRunById, newestRunId, setConfirmed } from './sync-run-store.ts'
import { deleteHeld, rehome } from './write-resources.ts'
import { writeSeen } from './write-seen.ts'

export interface Assignment {
  tenant_id?: string | null
  purpose?: Purpose
}

/** An operator says whose a project is; everything it holds follows in the same transaction, with an event each. */
export function assignProject(
  { db, clock }: Deps,
  id: string,
  assignment: Assignment,
  actor: string,
): Promise<CloudProjectRow> {
  return transaction(db, async tx => {
    const before = await lockProject(tx, id)
    if (!before) throw notFound()
    const after = {
      tenant_id: assignment.tenant_id === undefined ? before.tenant_id : assignment.tenant_id,
      purpose: assignment.purpose ?? before.purpose,
    }
    if (after.purpose === 'tenant' && after.tenant_id === null) {
      throw invalid('A tenant’s project needs a tenant.', [
        { pointer: '/tenant_id', message: 'is required when the purpose is tenant' },
      ])
    }
    const project = await updateProject(tx, id, after)
    if (before.tenant_id !== after.tenant_id) await rehome(tx, clock.now().toISOString(), actor, id)
    return project!
  })
}

/**
 * An operator confirms the deletions that the brake held. Only the newest run of a kind can be confirmed: an older one
 * says nothing about what is there now.
 */
export function confirmHeldDeletions({ db, clock }: Deps, id: string, actor: string): Promise<SyncRunRow> {
  return transaction(db, async tx => {
    const run = await lockRunById(tx, id)
    if (!run) throw notFound()
    const { kind } = run
    if (run.held === 0 || !isKind(kind)) throw conflict('nothing_held', 'This run holds no deletions.')
    if (run.confirmed_at !== null)
      throw conflict('already_confirmed', 'These deletions were confirmed before.')
    if ((await newestRunId(tx, kind)) !== id)
      throw conflict('superseded', 'A newer sweep of this kind has run: look at that one.')
    const look = await beginLook(tx, clock)
    const deleted = await deleteHeld(tx, { kind, ...look, actor }, run)
    return setConfirmed(tx, id, look.at, actor, deleted)
  })
}

/**
 * Reads one resource again, outside the sweeps: for those whose status changes by itself. A resource that is not found is
 * left as it is; only a whole listing may strike.
 */
export async function refreshResource(
  { db, providers, clock }: Deps,
  kind: Kind,
  providerId: string,
  options?: CallOptions,
  onChanged?: (resourceIds: string[]) => Promise<void>,
): Promise<'moving' | 'still' | 'absent'> {
  const sighting = { kind, ...(await beginLook(db, clock)), actor: 'refresh' }
  const raw = await providers.for('cloud_sync_fast').get(kind, providerId, options)
  if (!raw) return 'absent'
  const item = mapItem(kind, raw)
  const { changed } = await transaction(db, tx => writeSeen(tx, sighting, seenResource(item)))
  await onChanged?.(changed)
  return isTransitional(kind, item) ? 'moving' : 'still'
}

/** The first sync makes sure that the internal project exists: the provider's default project, the platform tenant's. */
export async function ensureInternalProject({ db, providers, clock, platformTenantId }: Deps): Promise<void> {
  if (await internalProjectExists(db)) return
  const look = await beginLook(db, clock)
  const project = seenProject(await providers.for('cloud_sync_full').getDefaultProject())
  if (project) await upsertProjects(db, [{ ...project, is_default: true }], look, platformTenantId)
}

/**
 * Enters a new project that holds a tenant's resources, in the caller's transaction. Undefined when an operator has given the project to
 * someone else.
 */
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
