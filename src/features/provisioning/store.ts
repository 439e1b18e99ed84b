// SQL of provisioning: reservations of a plan's places, runs that exclude each other, and the leaks of sagas.
import { type RawBuilder, sql } from 'kysely'
import { listPage } from '../../kernel/db/list.ts'
import type { Executor, Row } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { PROVIDER } from '../inventory/index.ts'
import { DEPROVISION, Leak, SAGA_TAG } from './provisioning.ts'

const UNDER_WAY = ['pending', 'running', 'compensating'] as const

/** A place in a plan that a run under way has taken. */
type Reservation = Row<'provisioning_reservations'>

/**
 * How many of a kind a deployment has: those that live, and those that other runs under way have reserved. One that a
 * sweep has found before its run recorded it counts once. One statement, so that a run that replaces its reservation with
 * a resource counts exactly once.
 */
export async function countTaken(
  tx: Executor,
  { saga_id, deployment_id, resource_kind }: Omit<Reservation, 'created_at'>,
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

/** A saga has one place, however often it reserves. */
export async function reserve(tx: Executor, row: Reservation): Promise<void> {
  await tx
    .insertInto('provisioning_reservations')
    .values(row)
    .onConflict(conflict => conflict.column('saga_id').doNothing())
    .execute()
}

export async function release(executor: Executor, sagaId: string): Promise<void> {
  await executor.deleteFrom('provisioning_reservations').where('saga_id', '=', sagaId).execute()
}

/** The run of this kind that is under way for the deployment or under the key, if there is one. */
export async function runUnderWay(
  executor: Executor,
  kind: string,
  which: { deployment_id: string } | { business_key: string },
): Promise<string | undefined> {
  const row = await executor
    .selectFrom('saga_runs')
    .select('id')
    .where(eb => eb.and({ kind, ...which }))
    .where('status', 'in', [...UNDER_WAY])
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Anybody can write a tag: what is not an id must not be taken for one. */
const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'

const IS_UNDER_WAY = `in (${UNDER_WAY.map(status => `'${status}'`).join(', ')})`

/**
 * SQL: whether a saga is making a resource, a row of cloud_resources, just now. It is known by the saga's tag, or, of a droplet,
 * by being on the run's record.
 */
export const beingMade = (row: string): string => {
  const named = `substr(tag, ${SAGA_TAG.length + 1})`
  return `(exists (
      select from unnest(${row}.tags) tag
      join saga_runs making on making.id = case when ${named} ~ '${UUID}' then ${named}::uuid end
      where starts_with(tag, '${SAGA_TAG}') and making.status ${IS_UNDER_WAY})
    or (${row}.kind = 'droplet' and ${row}.provider_id in (
      select making.context ->> 'droplet_id' from saga_runs making
      where making.status ${IS_UNDER_WAY} and making.context ->> 'droplet_id' is not null)))`
}

/** SQL: whether a run under way is taking it down, a droplet of a deployment. */
export const beingTakenDown = (row: string): string => `(${row}.kind = 'droplet' and ${row}.deployment_id in (
  select leaving.deployment_id from saga_runs leaving
  where leaving.kind = '${DEPROVISION}' and leaving.status ${IS_UNDER_WAY} and leaving.deployment_id is not null))`

/**
 * SQL: living resources `r` with a saga's tag that nobody keeps: their run `s` is over, and they have no desired state, or only
 * one of a run that did not complete. An operator keeps one by giving it a desired state.
 */
export const LEAKS = {
  from: `from cloud_resources r
    cross join lateral (
      select substr(tag, ${SAGA_TAG.length + 1}) as saga_id from unnest(r.tags) tag
      where starts_with(tag, '${SAGA_TAG}') order by tag limit 1) l
    left join saga_runs s on s.id = case when l.saga_id ~ '${UUID}' then l.saga_id::uuid end
    left join cloud_provisioned p on p.resource_id = r.id
    left join saga_runs keeper on keeper.id = p.saga_id`,
  where: `r.deleted_at is null and carries_saga_tag(r.tags)
    and (s.id is null or s.status in ('completed', 'rolled_back', 'failed'))
    and (p.resource_id is null or keeper.status in ('rolled_back', 'failed'))`,
}

export function listLeaks(
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> {
  return listPage(executor, {
    name: 'leaks',
    select: `select r.id, ${jsonOf(Leak, 'r')}::text as json ${LEAKS.from}`,
    where: LEAKS.where,
    orderBy: ['r.id'],
    after,
    limit,
  })
}

/** How many runs that were rolled back are read, newest first, and how many droplets of the inventory. */
const MOST_RUNS = 500
const MOST_LEAKS = 100

/**
 * Runs that were rolled back and may have a droplet all the same: those of the last day whose create had an unknown
 * outcome, because the droplet may appear late, and those whose droplet a sweep has seen.
 */
export async function listRolledBack(executor: Executor): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with unsure as (
      select r.id from (
        select id, finished_at from saga_runs where status = 'rolled_back' order by id desc limit ${MOST_RUNS}) r
      join saga_step_results s on s.saga_id = r.id and s.name = 'create_droplet'
      -- A step that failed is only compensated itself when its outcome is unknown.
      where r.finished_at > clock_timestamp() - interval '1 day' and s.status = 'failed'
        and (s.compensated_at is not null or s.error like '%compensation failed%')
    ), seen as (
      select s.id from cloud_resources r cross join lateral unnest(r.tags) tag
      join saga_runs s on s.id = case when substr(tag, ${SAGA_TAG.length + 1}) ~ ${UUID}
        then substr(tag, ${SAGA_TAG.length + 1})::uuid end
      where r.deleted_at is null and carries_saga_tag(r.tags) and r.kind = 'droplet'
        and starts_with(tag, ${SAGA_TAG}) and s.status = 'rolled_back'
      order by r.id desc limit ${MOST_LEAKS}
    )
    select id from unsure union select id from seen`.execute(executor)
  return rows.map(({ id }) => id)
}

/**
 * SQL: a living droplet `r` belongs to another tenant than this one, so no saga of this tenant has made it, whatever its
 * tags say. A new droplet is in the provider's default project at first, whose tenant is the platform.
 */
const isAnothers = (tenantId: RawBuilder<unknown>) => sql`
  r.provider = ${PROVIDER} and r.kind = 'droplet' and r.deleted_at is null and r.tenant_id <> ${tenantId} and exists (
    select from cloud_projects p where p.id = r.project_id and not p.is_default)`

/** Which of these droplets are another tenant's, as far as the inventory knows. */
export async function dropletsOfOthers(
  executor: Executor,
  tenantId: string,
  providerIds: string[],
): Promise<string[]> {
  const { rows } = await sql<{ provider_id: string }>`
    select r.provider_id from cloud_resources r
    where r.provider_id = any(${providerIds}::text[]) and ${isAnothers(sql`${tenantId}`)}`.execute(executor)
  return rows.map(row => row.provider_id)
}

/** Whether all of these runs are known and were rolled back, nobody keeps the droplet, and it is no other tenant's. */
export async function isLeftBehind(
  executor: Executor,
  sagaIds: string[],
  providerId: string,
): Promise<boolean> {
  const { rows } = await sql<{ left_behind: boolean }>`
    select not exists (
      select 1 from unnest(${sagaIds}::text[]) named (id)
      left join saga_runs s on s.id = case when named.id ~ ${UUID} then named.id::uuid end
      where s.status is distinct from 'rolled_back'
    ) and not exists (
      select 1 from cloud_resources r join cloud_provisioned p on p.resource_id = r.id
      left join saga_runs keeper on keeper.id = p.saga_id
      where r.kind = 'droplet' and r.provider_id = ${providerId} and keeper.status is distinct from 'rolled_back'
    ) and not exists (
      select 1 from unnest(${sagaIds}::text[]) named (id)
      join saga_runs s on s.id = case when named.id ~ ${UUID} then named.id::uuid end
      join cloud_resources r on r.provider_id = ${providerId} and ${isAnothers(sql`s.tenant_id`)}
    ) as left_behind`.execute(executor)
  return rows[0]!.left_behind
}
