// The desired state of a resource, written and dropped in the caller's transaction. Locks are taken in one order
// everywhere: the resource, its desired state, its drift.
import { type SqlBool, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { closeDrift, DESIRED_STATES } from './repository.ts'

export interface DesiredState {
  resourceId: string
  /** Field → desired value. */
  spec: Record<string, unknown>
  /** The saga that wants it so; null (an operator) leaves the saga that made the resource on record. */
  sagaId: string | null
}

/**
 * The version goes up when the spec changes, and only then. Drift of fields that are no longer desired is over, and so is
 * what opened while the resource was another tenant's.
 */
export async function writeDesiredState(
  tx: Executor,
  at: string,
  { resourceId, spec, sagaId }: DesiredState,
): Promise<{ spec_version: number; saga_id: string | null }> {
  const resource = await lockResource(tx, resourceId)
  if (!resource) throw notFound()
  const { tenant_id } = resource
  const wanted = JSON.stringify(spec)
  const isNew = sql<boolean>`spec is distinct from ${wanted}::jsonb`
  const written = await DESIRED_STATES.upsert(
    tx,
    ['resource_id'],
    {
      resource_id: resourceId,
      tenant_id,
      spec,
      spec_version: 1,
      saga_id: sagaId,
      created_at: at,
      updated_at: at,
    },
    {
      tenant_id,
      spec: sql`${wanted}::jsonb`,
      saga_id: sql`coalesce(${sagaId}, saga_id)`,
      spec_version: sql`spec_version + (${isNew})::int`,
      updated_at: sql`case when ${isNew} then ${at} else updated_at end`,
    },
  )
  const over = sql<SqlBool>`(not ${wanted}::jsonb ? field or tenant_id is distinct from ${tenant_id})`
  await closeDrift(tx, resourceId, at, over)
  await sql`
    delete from cloud_drift_ignored where resource_id = ${resourceId} and not ${wanted}::jsonb ? field`.execute(
    tx,
  )
  return written
}

/** Nothing is desired of the resource any more; whether anything was. Its drift is over. */
export async function dropDesiredState(tx: Executor, at: string, resourceId: string): Promise<boolean> {
  await lockResource(tx, resourceId)
  const dropped = await DESIRED_STATES.delete(tx, { resource_id: resourceId })
  await closeDrift(tx, resourceId, at)
  await sql`delete from cloud_drift_ignored where resource_id = ${resourceId}`.execute(tx)
  return dropped.length > 0
}

export interface LockedResource {
  tenant_id: string | null
  deleted_at: string | null
}

/** Keeps the resource as it is until the transaction ends; undefined when there is none. */
export async function lockResource(tx: Executor, resourceId: string): Promise<LockedResource | undefined> {
  const { rows } = await sql<LockedResource>`
    select tenant_id, deleted_at from cloud_resources where id = ${resourceId} for no key update`.execute(tx)
  return rows[0]
}

export function refuseGone(resource: LockedResource | undefined): void {
  if (resource?.deleted_at == null) return
  throw conflict(
    'resource_gone',
    `The resource was deleted at ${resource.deleted_at}: there is no live value. Delete its desired state, or provision it anew.`,
  )
}
