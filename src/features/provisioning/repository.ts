// SQL of provisioning: reservations of a plan's places, runs that exclude each other, and what sagas have left behind.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Leak } from './schemas.ts'
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

/** Tags are anybody's: what is no id must not be taken for one. */
const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'

/**
 * Living resources with a saga's tag that nobody keeps: their run is over, and they have no desired state, or only one
 * that a run left which did not complete. An operator keeps one by giving it a desired state.
 */
export async function listLeaks(executor: Executor, limit: number, after: string | null): Promise<Leak[]> {
  const { rows } = await sql<{ leak: Leak }>`
    select json_build_object(
      'saga_id', l.saga_id, 'run_status', s.status, 'run_kind', s.kind,
      'reason', case when s.id is null then 'run_unknown' when s.status = 'completed' then 'not_owned' else 'run_' || s.status end,
      'since', iso8601(greatest(r.first_seen_at, s.finished_at)),
      'resource', json_build_object('id', r.id, 'provider_id', r.provider_id, 'kind', r.kind, 'name', r.name,
        'region', r.region, 'status', r.status, 'tenant_id', r.tenant_id, 'deployment_id', r.deployment_id, 'tags', r.tags,
        'first_seen_at', iso8601(r.first_seen_at), 'last_seen_at', iso8601(r.last_seen_at))) as leak
    from cloud_resources r
    cross join lateral (
      select substr(tag, ${SAGA_TAG.length + 1}) as saga_id from unnest(r.tags) tag where starts_with(tag, ${SAGA_TAG})
      order by tag limit 1) l
    left join saga_runs s on s.id = case when l.saga_id ~ ${UUID} then l.saga_id::uuid end
    left join cloud_provisioned p on p.resource_id = r.id
    left join saga_runs keeper on keeper.id = p.saga_id
    where r.deleted_at is null and carries_saga_tag(r.tags)
      and (s.id is null or s.status in ('completed', 'rolled_back', 'failed'))
      and (p.resource_id is null or keeper.status in ('rolled_back', 'failed'))
      and (${after}::uuid is null or r.id > ${after}::uuid)
    order by r.id limit ${limit}`.execute(executor)
  return rows.map(row => row.leak)
}
