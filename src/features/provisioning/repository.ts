// SQL of provisioning: reservations of a plan's places, and runs that exclude each other.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { ProvisioningReservationRow } from './tables.ts'
import { SAGA_TAG } from './tags.ts'

const UNDER_WAY = ['pending', 'running', 'compensating'] as const

/**
 * How many of a kind a deployment has: those that live, and those that other runs under way have a place for. One that
 * a sweep has found before its run recorded it counts once. One statement, so that a run that swaps its reservation for
 * a resource is counted either way and never twice.
 */
export async function countTaken(
  tx: Executor,
  { saga_id, deployment_id, resource_kind }: Omit<ProvisioningReservationRow, 'created_at'>,
): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    with reserved as (
      select v.saga_id from provisioning_reservations v join saga_runs s on s.id = v.saga_id
      where v.deployment_id = ${deployment_id} and v.resource_kind = ${resource_kind} and v.saga_id <> ${saga_id}
        and s.status = any(${[...UNDER_WAY]}::text[])
    )
    select ((select count(*) from reserved) + (
      select count(*) from cloud_resources r
      where r.deployment_id = ${deployment_id} and r.kind = ${resource_kind} and r.deleted_at is null
        and not exists (select 1 from reserved v where ${SAGA_TAG} || v.saga_id = any(r.tags))
    ))::int as taken`.execute(tx)
  return rows[0]!.taken
}

/** A saga has one place, however often it says so. */
export async function reserve(tx: Executor, row: ProvisioningReservationRow): Promise<void> {
  await tx
    .insertInto('provisioning_reservations')
    .values(row)
    .onConflict(conflict => conflict.column('saga_id').doNothing())
    .execute()
}

export async function release(executor: Executor, sagaId: string): Promise<void> {
  await executor.deleteFrom('provisioning_reservations').where('saga_id', '=', sagaId).execute()
}

/** The run of this kind that is under way for the deployment, if there is one. */
export async function runUnderWay(
  executor: Executor,
  kind: string,
  deploymentId: string,
): Promise<string | undefined> {
  const row = await executor
    .selectFrom('saga_runs')
    .select('id')
    .where('deployment_id', '=', deploymentId)
    .where('kind', '=', kind)
    .where('status', 'in', [...UNDER_WAY])
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

export async function runUnderKey(
  executor: Executor,
  kind: string,
  businessKey: string,
): Promise<string | undefined> {
  const row = await executor
    .selectFrom('saga_runs')
    .select('id')
    .where('kind', '=', kind)
    .where('business_key', '=', businessKey)
    .where('status', 'in', [...UNDER_WAY])
    .executeTakeFirst()
  return row?.id
}

/** The resources on record as made by this saga. */
export async function ownedBy(executor: Executor, sagaId: string): Promise<string[]> {
  const rows = await executor
    .selectFrom('cloud_provisioned')
    .select('resource_id')
    .where('saga_id', '=', sagaId)
    .execute()
  return rows.map(row => row.resource_id)
}
