// The chokepoint: every write of a resource row happens in this file, and each leaves the events it must, in the same
// statement, each with the tenant whose the resource is from then on. Set-based throughout: one statement for a batch,
// never one a row. What is to be written is decided in write-seen.ts.
import { sql } from 'kysely'
import type { Kind } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Look } from './look.ts'
import { publishResourceEvents } from './publish-resource-events.ts'
import { type SeenResource, TIE } from './seen-resource.ts'
import type { Insert, Update } from './sweep-plan.ts'
import { PROVIDER } from './tables.ts'

export interface Sighting extends Look {
  kind: Kind
  /** Who looked: a sweep, a refresh, a saga. */
  actor: string
}

/** A later look may have been written before: then its time stands. */
const seenAt = ({ at, look }: Look) => sql`
  last_seen_at = case when r.last_look > ${look}::bigint then r.last_seen_at else ${at}::timestamptz end,
  last_look = greatest(r.last_look, ${look}::bigint), stale_strike_count = 0`

/** Most rows of most sweeps: the answer is what it was. Returns the others. */
export async function touchUnchanged(
  tx: Executor,
  { kind, at, look }: Sighting,
  seen: SeenResource[],
): Promise<SeenResource[]> {
  if (seen.length === 0) return []
  const ids = seen.map(resource => resource.provider_id)
  const fingerprints = seen.map(resource => resource.fingerprint)
  const { rows } = await sql<{ n: number }>`
    update cloud_resources r set ${seenAt({ at, look })}
    from unnest(${ids}::text[], ${fingerprints}::text[]) with ordinality as s (provider_id, fingerprint, n)
    where r.provider = ${PROVIDER} and r.kind = ${kind} and r.provider_id = s.provider_id
      and r.fingerprint = s.fingerprint and r.deleted_at is null
    returning s.n::int as n`.execute(tx)
  if (rows.length === seen.length) return []
  const touched = new Set(rows.map(row => row.n))
  return seen.filter((_, index) => !touched.has(index + 1))
}

export async function touchSeen(
  tx: Executor,
  look: Look,
  touches: { id: string; fingerprint: string }[],
): Promise<void> {
  if (touches.length === 0) return
  await sql`
    update cloud_resources r set ${seenAt(look)}, fingerprint = s.fingerprint
    from unnest(${touches.map(t => t.id)}::uuid[], ${touches.map(t => t.fingerprint)}::text[]) as s (id, fingerprint)
    where r.id = s.id`.execute(tx)
}

/** What was listed and could not be stored is there all the same: it is not struck. */
export async function touchSetAside(tx: Executor, { kind, ...look }: Sighting, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update cloud_resources r set ${seenAt(look)}
    where r.provider = ${PROVIDER} and r.kind = ${kind} and r.provider_id = any(${ids}::text[])
      and r.deleted_at is null`.execute(tx)
}

export async function insertSeen(
  tx: Executor,
  { kind, at, look, actor }: Sighting,
  inserts: Insert[],
): Promise<string[]> {
  if (inserts.length === 0) return []
  const { rows } = await sql<{ provider_id: string; event_id: string }>`
    with seen as (
      select * from jsonb_to_recordset(${JSON.stringify(inserts)}::jsonb) as s (
        provider_id text, name text, region text, status text, tags text[], attrs jsonb, fingerprint text,
        project_id uuid, tenant_id text, deployment_id uuid)
    ), inserted as (
      insert into cloud_resources (id, provider, provider_id, kind, name, region, status, tenant_id, project_id,
        deployment_id, tags, attrs, fingerprint, first_seen_at, last_seen_at, last_look)
      select uuid_v7(), ${PROVIDER}, s.provider_id, ${kind}, s.name, s.region, s.status, s.tenant_id, s.project_id,
        s.deployment_id, s.tags, s.attrs, s.fingerprint, ${at}, ${at}, ${look}
      from seen s
      order by s.provider_id
      on conflict (provider, kind, provider_id) do nothing
      returning id, provider_id, tenant_id
    ), logged as (
      insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
      select uuid_v7(), id, tenant_id, 'discovered', null, ${actor}, ${at} from inserted
      returning id, resource_id
    )
    select i.provider_id, l.id as event_id from inserted i join logged l on l.resource_id = i.id`.execute(tx)
  await publishResourceEvents(tx, rows)
  return rows.map(row => row.provider_id)
}

export async function updateSeen(
  tx: Executor,
  { at, look, actor }: Sighting,
  updates: Update[],
): Promise<void> {
  if (updates.length === 0) return
  const { rows } = await sql<{ event_id: string }>`
    with seen as (
      select * from jsonb_to_recordset(${JSON.stringify(updates)}::jsonb) as s (
        id uuid, name text, region text, status text, tags text[], attrs jsonb, fingerprint text,
        project_id uuid, tenant_id text, deployment_id uuid, event text, changes jsonb)
    ), updated as (
      update cloud_resources r set name = s.name, region = s.region, status = s.status, tags = s.tags, attrs = s.attrs,
        fingerprint = s.fingerprint, project_id = s.project_id, tenant_id = s.tenant_id, deployment_id = s.deployment_id,
        ${seenAt({ at, look })}, deleted_at = null
      from seen s where r.id = s.id
      returning r.id
    )
    insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
    select uuid_v7(), s.id, s.tenant_id, s.event, s.changes, ${actor}, ${at} from seen s join updated u on u.id = s.id
    returning id as event_id`.execute(tx)
  await publishResourceEvents(tx, rows)
}

/** What is known to be gone, by those who destroyed it. */
export interface Gone {
  providerIds: readonly string[]
  /** Everything that carries the tag as well. */
  tag?: string
  /** But not these. */
  spared?: readonly string[]
}

/** Deletes at once, without strikes: somebody has destroyed it and looked. The ids of the rows. */
export async function recordGone(
  tx: Executor,
  { kind, at, look, actor }: Sighting,
  { providerIds, tag, spared = [] }: Gone,
): Promise<string[]> {
  const tagged = tag === undefined ? sql`false` : sql`tags @> array[${tag}]::text[]`
  const { rows } = await sql<{ id: string; event_id: string }>`
    with gone as (
      select id from cloud_resources
      where provider = ${PROVIDER} and kind = ${kind} and deleted_at is null
        and (provider_id = any(${[...providerIds]}::text[]) or ${tagged})
        and provider_id <> all(${[...spared]}::text[])
      order by provider_id for update
    ), deleted as (
      update cloud_resources r set deleted_at = ${at}, last_look = ${look} from gone where r.id = gone.id
      returning r.id, r.tenant_id
    ), logged as (
      insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
      select uuid_v7(), id, tenant_id, 'deleted', null, ${actor}, ${at} from deleted
      returning id, resource_id
    )
    select resource_id as id, id as event_id from logged`.execute(tx)
  await publishResourceEvents(tx, rows)
  return rows.map(row => row.id)
}

export interface Strikes {
  struck: number
  deleted: number
}

/**
 * A strike for every living resource of a kind that no look since the sweep began has shown; the third deletes it, unless
 * deletion is held.
 */
export async function strikeUnseen(
  tx: Executor,
  { kind, at, look, actor }: Sighting,
  { sweep, hold }: { sweep: number; hold: boolean },
): Promise<Strikes> {
  const dies = sql`stale_strike_count + 1 >= ${STRIKES_TO_DELETE}::int and not ${hold}::boolean`
  const { rows } = await sql<Strikes & { event_ids: string[] }>`
    with struck as (
      update cloud_resources set
        stale_strike_count = least(stale_strike_count + 1, ${STRIKES_TO_DELETE}::int),
        deleted_at = case when ${dies} then ${at}::timestamptz end,
        last_look = case when ${dies} then ${look}::bigint else last_look end
      where provider = ${PROVIDER} and kind = ${kind} and deleted_at is null and last_look < ${sweep}
      returning id, deleted_at, tenant_id
    ), logged as (
      insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
      select uuid_v7(), id, tenant_id, 'deleted', null, ${actor}, ${at} from struck where deleted_at is not null
      returning id
    )
    select (select count(*) from struck)::int as struck, array(select id from logged) as event_ids,
      (select count(*) from logged)::int as deleted`.execute(tx)
  const { event_ids, struck, deleted } = rows[0]!
  await publishResourceEvents(
    tx,
    event_ids.map(event_id => ({ event_id })),
  )
  return { struck, deleted }
}

export const STRIKES_TO_DELETE = 3

/** Deletes what a held sweep would have deleted and nobody has seen since. */
export async function deleteHeld(
  tx: Executor,
  { kind, at, look, actor }: Sighting,
  sweep: { look: number; started_at: string },
): Promise<number> {
  // A sweep from before looks were numbered has its time alone.
  const unseen = sweep.look > 0 ? sql`last_look < ${sweep.look}` : sql`last_seen_at < ${sweep.started_at}`
  const { rows } = await sql<{ event_id: string }>`
    with gone as (
      update cloud_resources set deleted_at = ${at}, last_look = ${look}
      where provider = ${PROVIDER} and kind = ${kind} and deleted_at is null
        and stale_strike_count >= ${STRIKES_TO_DELETE}::int and ${unseen}
      returning id, tenant_id
    ), logged as (
      insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
      select uuid_v7(), id, tenant_id, 'deleted', null, ${actor}, ${at} from gone
      returning id as event_id
    )
    select event_id from logged`.execute(tx)
  await publishResourceEvents(tx, rows)
  return rows.length
}

/**
 * Gives living resources the project and tenant that the project lists say, and with them the deployment that their tags
 * name if it is that tenant's, with an event for each that moves. A resource that no list names stays where it was. With a
 * project named, only what that project holds.
 */
export async function rehome(tx: Executor, at: string, actor: string, projectId?: string): Promise<number> {
  const change = (field: string) => {
    const [before, after] = [sql.id('m', `old_${field}`), sql.id('m', `new_${field}`)]
    return sql`case when ${before} is distinct from ${after}
      then jsonb_build_object(${sql.lit(field)}::text, jsonb_build_object('before', ${before}, 'after', ${after})) else '{}' end`
  }
  const { rows } = await sql<{ event_id: string }>`
    with moving as (
      select r.id, r.project_id as old_project_id, r.tenant_id as old_tenant_id, r.deployment_id as old_deployment_id,
        p.id as new_project_id, p.tenant_id as new_tenant_id, d.id as new_deployment_id
      from cloud_resources r
      left join cloud_project_members m on m.provider = r.provider and m.kind = r.kind and m.provider_id = r.provider_id
      left join cloud_projects p on p.id = coalesce(m.project_id, r.project_id)
      left join lateral (${taggedDeployment}) t on true
      left join cloud_deployments d on d.id = coalesce(t.id::uuid, r.deployment_id) and d.tenant_id = p.tenant_id
      where ${projectId ? sql`r.id in (${heldBy(projectId)}) and` : sql``} r.deleted_at is null
        and (r.project_id, r.tenant_id, r.deployment_id) is distinct from (p.id, p.tenant_id, d.id)
      for no key update of r
    ), moved as (
      update cloud_resources r
      set project_id = m.new_project_id, tenant_id = m.new_tenant_id, deployment_id = m.new_deployment_id
      from moving m where r.id = m.id
      returning r.id
    ), logged as (
      insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
      select uuid_v7(), m.id, m.new_tenant_id, 'updated', ${change('project_id')} || ${change('tenant_id')} || ${change('deployment_id')},
        ${actor}, ${at}
      from moving m join moved on moved.id = m.id
      returning id as event_id
    )
    select event_id from logged`.execute(tx)
  await publishResourceEvents(tx, rows)
  return rows.length
}

/** deploymentOfTags() of the resource `r`, for those whose tags are not at hand; most resources have no such tag. */
const taggedDeployment = sql`
  select min(named.id) as id
  from unnest(r.tags) tag cross join lateral lower(substr(tag, ${TIE.length + 1}::int)) named (id)
  where r.tags::text like ${`%${TIE}%`} and starts_with(tag, ${TIE})
  having min(named.id) = max(named.id) and min(named.id) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`

/** What a project's list names, and what was the project's last. */
const heldBy = (projectId: string) => sql`
  select held.id from cloud_project_members m join cloud_resources held using (provider, kind, provider_id)
  where m.project_id = ${projectId}
  union
  select id from cloud_resources where project_id = ${projectId}`
