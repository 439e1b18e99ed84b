// The desired state of a resource, written and dropped in the caller's transaction. Locks are taken in one order
// everywhere: the resource, its desired state, its drift.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, notFound } from '../../kernel/errors.ts'

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
  const { rows } = await sql<{ spec_version: number; saga_id: string | null }>`
    insert into cloud_provisioned as p (resource_id, tenant_id, spec, spec_version, saga_id, created_at, updated_at)
    values (${resourceId}, ${tenant_id}, ${wanted}::jsonb, 1, ${sagaId}, ${at}, ${at})
    on conflict (resource_id) do update set
      tenant_id = excluded.tenant_id, spec = excluded.spec, saga_id = coalesce(excluded.saga_id, p.saga_id),
      spec_version = p.spec_version + (p.spec is distinct from excluded.spec)::int,
      updated_at = case when p.spec is distinct from excluded.spec then excluded.updated_at else p.updated_at end
    returning spec_version, saga_id`.execute(tx)
  await sql`
    update cloud_drift set status = 'stale', resolved_at = ${at}
    where resource_id = ${resourceId} and status = 'open'
      and (not ${wanted}::jsonb ? field or tenant_id is distinct from ${tenant_id})`.execute(tx)
  await sql`
    delete from cloud_drift_ignored where resource_id = ${resourceId} and not ${wanted}::jsonb ? field`.execute(
    tx,
  )
  return rows[0]!
}

/** Nothing is desired of the resource any more; whether anything was. Its drift is over. */
export async function dropDesiredState(tx: Executor, at: string, resourceId: string): Promise<boolean> {
  await lockResource(tx, resourceId)
  const { rows } = await sql`
    delete from cloud_provisioned where resource_id = ${resourceId} returning 1`.execute(tx)
  await sql`
    update cloud_drift set status = 'stale', resolved_at = ${at}
    where resource_id = ${resourceId} and status = 'open'`.execute(tx)
  await sql`delete from cloud_drift_ignored where resource_id = ${resourceId}`.execute(tx)
  return rows.length > 0
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
