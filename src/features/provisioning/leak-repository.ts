// SQL of what sagas have left behind: listed for operators, and found to be taken down.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { PROVIDER } from '../inventory/index.ts'
import type { Leak } from './schemas.ts'
import { SAGA_TAG } from './tags.ts'

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

/** How many runs that were rolled back are looked through, newest first, and how many droplets of the inventory. */
const MOST_RUNS = 500
const MOST_LEAKS = 100

/**
 * Runs that were rolled back and may have a droplet all the same: those of the last day whose create had an unknown
 * outcome, for it may show up late, and those whose droplet a sweep has seen.
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
 * A living droplet `r` that another tenant has than this one: no saga of this tenant has made it, whatever its tags say.
 * What a saga makes lies in the provider's default project at first, whose tenant is the platform.
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
