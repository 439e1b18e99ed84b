// The chokepoint: every write of a resource row happens in this file, and each leaves the events and the versions it must,
// in the same statement, each with the tenant whose the resource is from then on. Set-based throughout: one statement for
// a batch, never one a row. What is to be written is decided in write-seen.ts.
import { type RawBuilder, sql } from 'kysely'
import type { Kind, ProviderAction } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { publishEvents } from '../webhooks/index.ts'
import type { NamedAction } from './explain.ts'
import { PROVIDER, Resource, ResourceEvent } from './resource.ts'
import { type SeenResource, TIE } from './seen-resource.ts'
import type { Insert, Update } from './sweep-plan.ts'
import type { Look } from './sync-run-store.ts'

export interface Sighting extends Look {
  kind: Kind
  /** Who looked: a sweep, a refresh, a saga. */
  actor: string
  /** The provider's actions of late that concern a resource, newest first. */
  actionsOf?: ActionsOf
  /** The same, found out anew: asked for once something has changed, before it is written. */
  actionsNow?: () => Promise<ActionsOf>
}

export type ActionsOf = (resource: {
  provider_id: string
  region: string | null
}) => readonly ProviderAction[]

/** The fields of a resource that have a history. */
const FIELDS = sql.raw(
  'kind, name, region, status, tenant_id, project_id, deployment_id, tags, attrs, deleted_at',
)

interface Written {
  id: string
  provider_id: string
  event_id: string
}

/**
 * Runs the CTEs of a write, of which `written` returns the resources as they now are, each with `event`, `changes` and a new
 * `event_id`; in the same statement come their events, and the versions that end and begin with them. Whoever updates must
 * have locked the rows in an earlier statement: a statement that waits for a lock does not see the version it waited for.
 *
 * A writer whose clock is a little behind does not reach back before what it ends.
 */
async function record(
  tx: Executor,
  { at, actor }: { at: string; actor: string },
  write: RawBuilder<unknown>,
  /** The action behind each, of the row of `written`. */
  action: RawBuilder<unknown> = sql`null::jsonb`,
): Promise<Written[]> {
  const { rows } = await sql<Written>`
    with ${write}, logged as (
      insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at, action)
      select event_id, id, tenant_id, event, changes, ${actor}, ${at}, ${action} from written
    ), ended as (
      update resource_versions v set valid_to = greatest(v.valid_from, ${at}::timestamptz)
      from written w where v.resource_id = w.id and v.valid_to is null
      returning v.resource_id, v.valid_to
    ), begun as (
      insert into resource_versions (resource_id, event_id, valid_from, ${FIELDS})
      select w.id, w.event_id, coalesce(e.valid_to, ${at}::timestamptz), ${FIELDS}
      from written w left join ended e on e.resource_id = w.id
    )
    select id, provider_id, event_id from written`.execute(tx)
  await publish(tx, rows)
  return rows
}

// The resource as it is now must not be published together with what another tenant had.
const PUBLISH = {
  name: 'resource_events',
  text: `select 'resource.' || e.kind as type, case when r.tenant_id = e.tenant_id then e.tenant_id end as tenant_id,
      e.created_at as occurred_at, json_build_object('tenant_id', r.tenant_id, 'resource', ${jsonOf(Resource, 'r')},
        'event', ${jsonOf(ResourceEvent, 'e')}) as data
    from cloud_resource_events e join cloud_resources r on r.id = e.resource_id where e.id = any($1::uuid[])`,
}

// Not in the log of events, whose kinds are given: nothing has happened to it yet that is certain.
const PUBLISH_MISSING = {
  name: 'resource_missing',
  text: `select 'resource.missing' as type, r.tenant_id, $2::timestamptz as occurred_at,
      json_build_object('tenant_id', r.tenant_id, 'resource', ${jsonOf(Resource, 'r')}) as data
    from cloud_resources r where r.id = any($1::uuid[])`,
}

/** Webhooks get each event of the log, with the resource as it is now. */
async function publish(tx: Executor, events: { event_id: string }[]): Promise<void> {
  if (events.length > 0) await publishEvents(tx, PUBLISH, [events.map(({ event_id }) => event_id)])
}

/** A later look may have been written before: then its time stands. */
const seenAt = ({ at, look }: Look) => sql`
  last_seen_at = case when r.last_look > ${look}::bigint then r.last_seen_at else ${at}::timestamptz end,
  last_look = greatest(r.last_look, ${look}::bigint), stale_strike_count = 0, missing_since = null`

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
  inserts: (Insert & { action?: NamedAction | null })[],
): Promise<string[]> {
  if (inserts.length === 0) return []
  const rows = await record(
    tx,
    { at, actor },
    sql`seen as (
      select * from jsonb_to_recordset(${JSON.stringify(inserts)}::jsonb) as s (
        provider_id text, name text, region text, status text, tags text[], attrs jsonb, fingerprint text,
        project_id uuid, tenant_id text, deployment_id uuid, action jsonb)
    ), written as (
      insert into cloud_resources (id, provider, provider_id, kind, name, region, status, tenant_id, project_id,
        deployment_id, tags, attrs, fingerprint, first_seen_at, last_seen_at, last_look)
      select uuid_v7(), ${PROVIDER}, s.provider_id, ${kind}, s.name, s.region, s.status, s.tenant_id, s.project_id,
        s.deployment_id, s.tags, s.attrs, s.fingerprint, ${at}, ${at}, ${look}
      from seen s
      order by s.provider_id
      on conflict (provider, kind, provider_id) do nothing
      returning *, uuid_v7() as event_id, 'discovered' as event, null::jsonb as changes
    )`,
    sql`(select s.action from seen s where s.provider_id = written.provider_id)`,
  )
  return rows.map(row => row.provider_id)
}

export async function updateSeen(
  tx: Executor,
  { at, look, actor }: Sighting,
  updates: (Update & { action?: NamedAction | null })[],
): Promise<void> {
  if (updates.length === 0) return
  await record(
    tx,
    { at, actor },
    sql`seen as (
      select * from jsonb_to_recordset(${JSON.stringify(updates)}::jsonb) as s (
        id uuid, name text, region text, status text, tags text[], attrs jsonb, fingerprint text,
        project_id uuid, tenant_id text, deployment_id uuid, assigned_deployment_id uuid, event text, changes jsonb, action jsonb)
    ), written as (
      update cloud_resources r set name = s.name, region = s.region, status = s.status, tags = s.tags, attrs = s.attrs,
        fingerprint = s.fingerprint, project_id = s.project_id, tenant_id = s.tenant_id, deployment_id = s.deployment_id,
        assigned_deployment_id = s.assigned_deployment_id, ${seenAt({ at, look })}, deleted_at = null
      from seen s where r.id = s.id
      returning r.*, uuid_v7() as event_id, s.event, s.changes, s.action
    )`,
    sql`action`,
  )
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
  sighting: Sighting,
  { providerIds, tag, spared = [] }: Gone,
): Promise<string[]> {
  const tagged = tag === undefined ? sql`false` : sql`tags @> array[${tag}]::text[]`
  const { rows } = await sql<{ id: string }>`
    select id from cloud_resources
    where provider = ${PROVIDER} and kind = ${sighting.kind} and deleted_at is null
      and (provider_id = any(${[...providerIds]}::text[]) or ${tagged})
      and provider_id <> all(${[...spared]}::text[])
    order by provider_id for update`.execute(tx)
  return deleteLocked(tx, sighting, rows)
}

/** Deletes living resources that this transaction has locked. Their ids. */
async function deleteLocked(
  tx: Executor,
  { at, look, actor }: Sighting,
  rows: { id: string }[],
): Promise<string[]> {
  const ids = rows.map(row => row.id)
  if (ids.length === 0) return ids
  await record(
    tx,
    { at, actor },
    sql`written as (
      update cloud_resources set deleted_at = ${at}, last_look = ${look} where id = any(${ids}::uuid[])
      returning *, uuid_v7() as event_id, 'deleted' as event, null::jsonb as changes
    )`,
  )
  return ids
}

export interface Strikes {
  struck: number
  deleted: number
}

/**
 * A strike for every living resource of a kind that no look since the sweep began has shown; the third deletes it, unless
 * deletion is held. Webhooks are told of the first, if no look before has told them.
 */
export async function strikeUnseen(
  tx: Executor,
  sighting: Sighting,
  { sweep, hold }: { sweep: number; hold: boolean },
): Promise<Strikes> {
  const { rows } = await sql<{ struck: number; first: string[]; out: string[] }>`
    with struck as (
      update cloud_resources set stale_strike_count = least(stale_strike_count + 1, ${STRIKES_TO_DELETE}::int),
        missing_since = case when stale_strike_count > 0 then coalesce(missing_since, last_seen_at)
          when missing_since >= last_seen_at then missing_since else ${sighting.at}::timestamptz end
      where provider = ${PROVIDER} and kind = ${sighting.kind} and deleted_at is null and last_look < ${sweep}
      returning id, stale_strike_count, missing_since
    )
    select count(*)::int as struck,
      coalesce(array_agg(id) filter (where stale_strike_count = 1 and missing_since = ${sighting.at}::timestamptz), '{}') as first,
      coalesce(array_agg(id) filter (where stale_strike_count >= ${STRIKES_TO_DELETE}::int and not ${hold}::boolean), '{}') as out
    from struck`.execute(tx)
  const { struck, first, out } = rows[0]!
  if (first.length > 0) await publishEvents(tx, PUBLISH_MISSING, [first, sighting.at])
  const deleted = await deleteLocked(
    tx,
    sighting,
    out.map(id => ({ id })),
  )
  return { struck, deleted: deleted.length }
}

export const STRIKES_TO_DELETE = 3

/**
 * What a look did not find is missing from now on, unless somebody has seen it since, and webhooks are told once. It is no
 * strike: it leaves no event, and counts for nothing when a sweep decides. Of a whole listing, what was last seen before a time.
 */
export async function markMissing(
  tx: Executor,
  { kind, at, look }: Sighting,
  which: { providerId: string } | { seenBefore: string },
): Promise<void> {
  const chosen =
    'providerId' in which
      ? sql`provider_id = ${which.providerId}`
      : sql`last_seen_at <= ${which.seenBefore}::timestamptz`
  const { rows } = await sql<{ id: string }>`
    update cloud_resources set missing_since = ${at}
    where provider = ${PROVIDER} and kind = ${kind} and deleted_at is null and last_look < ${look} and ${chosen}
      and stale_strike_count = 0 and (missing_since is null or missing_since < last_seen_at)
    returning id`.execute(tx)
  if (rows.length > 0) await publishEvents(tx, PUBLISH_MISSING, [rows.map(({ id }) => id), at])
}

/** Deletes what a held sweep would have deleted and nobody has seen since. */
export async function deleteHeld(
  tx: Executor,
  sighting: Sighting,
  sweep: { look: number; started_at: string },
): Promise<number> {
  // A sweep from before looks were numbered has its time alone.
  const unseen = sweep.look > 0 ? sql`last_look < ${sweep.look}` : sql`last_seen_at < ${sweep.started_at}`
  const { rows } = await sql<{ id: string }>`
    select id from cloud_resources
    where provider = ${PROVIDER} and kind = ${sighting.kind} and deleted_at is null
      and stale_strike_count >= ${STRIKES_TO_DELETE}::int and ${unseen}
    order by provider_id for no key update`.execute(tx)
  return (await deleteLocked(tx, sighting, rows)).length
}

/**
 * Gives living resources the project and tenant that the project lists say, and with them the deployment that their tags
 * name if it is that tenant's, with an event for each that moves. What an operator has assigned stays so as long as the
 * resource is the same tenant's. A resource that no list names stays where it was. With a project named, only what that
 * project holds.
 */
export async function rehome(tx: Executor, at: string, actor: string, projectId?: string): Promise<number> {
  const change = (field: string) => {
    const [before, after] = [sql.id('m', `old_${field}`), sql.id('m', `new_${field}`)]
    return sql`case when ${before} is distinct from ${after}
      then jsonb_build_object(${sql.lit(field)}::text, jsonb_build_object('before', ${before}, 'after', ${after})) else '{}' end`
  }
  const moving = (which: RawBuilder<unknown>) => sql`
    select r.id, r.project_id as old_project_id, r.tenant_id as old_tenant_id, r.deployment_id as old_deployment_id,
      p.id as new_project_id, a.tenant_id as new_tenant_id, coalesce(d.id, a.id) as new_deployment_id,
      case when t.id is null or d.id is null then a.id end as new_assigned_id
    from cloud_resources r
    left join cloud_project_members m on m.provider = r.provider and m.kind = r.kind and m.provider_id = r.provider_id
    left join cloud_projects p on p.id = coalesce(m.project_id, r.project_id)
    left join lateral (${taggedDeployment}) t on true
    left join cloud_deployments d on d.id = coalesce(t.id::uuid, r.deployment_id) and d.tenant_id = p.tenant_id
    cross join lateral (${stillAssigned}) a
    where ${which} and r.deleted_at is null
      and (r.project_id, r.tenant_id, r.deployment_id) is distinct from (p.id, a.tenant_id, coalesce(d.id, a.id))`
  const which = projectId ? sql`r.id in (${heldBy(projectId)})` : sql`true`
  const locked = await sql<{
    id: string
  }>`select id from (${moving(which)} for no key update of r) m`.execute(tx)
  if (locked.rows.length === 0) return 0
  const rows = await record(
    tx,
    { at, actor },
    sql`moving as (${moving(sql`r.id = any(${locked.rows.map(row => row.id)}::uuid[])`)}), written as (
      update cloud_resources r
      set project_id = m.new_project_id, tenant_id = m.new_tenant_id, deployment_id = m.new_deployment_id,
        assigned_deployment_id = m.new_assigned_id
      from moving m where r.id = m.id
      returning r.*, uuid_v7() as event_id, 'updated' as event,
        ${change('project_id')} || ${change('tenant_id')} || ${change('deployment_id')} as changes
    )`,
  )
  return rows.length
}

/**
 * Whose the resource `r` is by its project `p`, and what an operator assigned it to as long as it is the same tenant's. What
 * no project holds is the tenant's whose deployment it was assigned to.
 */
const stillAssigned = sql`
  select case when p.id is not null then p.tenant_id when r.assigned_deployment_id is not null then r.tenant_id end as tenant_id,
    case when p.id is null or r.tenant_id = p.tenant_id then r.assigned_deployment_id end as id`

export interface Assignment {
  deployment_id: string | null
  tenant_id: string | null
}

/** An operator says which deployment a resource is for, or for none. The row is locked. */
export async function assign(
  tx: Executor,
  by: { at: string; actor: string },
  before: Assignment & { id: string },
  { deployment_id, tenant_id }: Assignment,
): Promise<void> {
  const changes = JSON.stringify({
    deployment_id: { before: before.deployment_id, after: deployment_id },
    ...(tenant_id !== before.tenant_id && { tenant_id: { before: before.tenant_id, after: tenant_id } }),
  })
  await record(
    tx,
    by,
    sql`written as (
      update cloud_resources
      set deployment_id = ${deployment_id}, assigned_deployment_id = ${deployment_id}, tenant_id = ${tenant_id}
      where id = ${before.id}
      returning *, uuid_v7() as event_id, 'updated' as event, ${changes}::jsonb as changes
    )`,
  )
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

/** A field that is not as desired. Both values are JSON texts. */
export interface DriftSeen {
  resource_id: string
  /** Whose the resource was when it was seen. */
  tenant_id: string | null
  field: string
  desired: string
  actual: string
}

/**
 * One `drift_detected` for each: before is what was desired, after what is. The resource itself has not changed: no
 * version begins.
 */
export async function recordDriftEvents(
  tx: Executor,
  { at, actor }: { at: string; actor: string },
  drift: DriftSeen[],
): Promise<void> {
  if (drift.length === 0) return
  const { rows } = await sql<{ event_id: string }>`
    insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
    select uuid_v7(), resource_id, tenant_id, 'drift_detected',
      jsonb_build_object(field, jsonb_build_object('before', desired::jsonb, 'after', actual::jsonb)), ${actor}, ${at}
    from unnest(${drift.map(row => row.resource_id)}::uuid[], ${drift.map(row => row.tenant_id)}::text[],
      ${drift.map(row => row.field)}::text[], ${drift.map(row => row.desired)}::text[],
      ${drift.map(row => row.actual)}::text[]
    ) as d (resource_id, tenant_id, field, desired, actual)
    returning id as event_id`.execute(tx)
  await publish(tx, rows)
}
