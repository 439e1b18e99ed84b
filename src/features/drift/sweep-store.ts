// SQL of the sweep. The database checks whole tables; what may differ is read in windows and batches, so that memory does
// not grow with the number of resources.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { CHANGED_BY, type DriftSeen } from '../inventory/index.ts'
import { isComparable, liveValue } from './spec.ts'
import { publishDrift } from './store.ts'

const ROWS_A_WINDOW = 50_000

/** Desired states from one resource id to the next; no end: to the last. */
export interface Window {
  from: string
  to: string | null
}

/** Where the window that begins here ends. */
export async function windowFrom(executor: Executor, from: string): Promise<Window> {
  const { rows } = await sql<{ resource_id: string }>`
    select resource_id from cloud_provisioned where resource_id >= ${from}
    order by resource_id offset ${ROWS_A_WINDOW} limit 1`.execute(executor)
  return { from, to: rows[0]?.resource_id ?? null }
}

export interface Suspect {
  resource_id: string
  /** It has open or ignored drift, which has to be updated or closed. */
  on_record: boolean
}

/** What was desired while another tenant had the resource does not count until it is set again, or the resource comes back. */
const IN_FORCE = sql`p.tenant_id is not distinct from r.tenant_id`

/**
 * Resources that may differ from what is desired, or did. Never too few; too many only where the loose comparison
 * forgives what this does not (a number for its text). Attributes are one containment test for all of a spec, exact
 * because those are scalars.
 */
export async function suspectsOf(tx: Executor, { from, to }: Window): Promise<Suspect[]> {
  // Compiling the statement would take longer than running it.
  await sql`set local jit = off`.execute(tx)
  const inWindow = (column: string) =>
    sql`${sql.raw(column)} >= ${from} and (${to}::uuid is null or ${sql.raw(column)} < ${to}::uuid)`
  const { rows } = await sql<Suspect>`
    select resource_id, bool_or(on_record) as on_record from (
      select p.resource_id, false as on_record
      from cloud_provisioned p join cloud_resources r on r.id = p.resource_id
      cross join lateral jsonb_each(case
        when r.deleted_at is not null then '{"deleted_at": true}'
        when not r.attrs @> p.attributes
          or r.name <> p.spec ->> 'name'
          or (r.region is distinct from p.spec ->> 'region' and p.spec ? 'region')
          or (r.status is distinct from p.spec ->> 'status' and p.spec ? 'status')
          or r.tags <> p.tags then p.spec
        else p.singles
      end) f
      where ${inWindow('p.resource_id')} and ${IN_FORCE}
        and (r.deleted_at is not null
          or (${sql.raw(isComparable('f.key'))} and ${sql.raw(liveValue('f.key'))} is distinct from f.value))
      union all
      select resource_id, true from cloud_drift where status = 'open' and ${inWindow('resource_id')}
      union all
      select resource_id, true from cloud_drift_ignored where ${inWindow('resource_id')}
    ) s group by resource_id order by resource_id`.execute(tx)
  return rows
}

/** Of these resources, those with a desired state. */
export async function desiredOf(executor: Executor, resourceIds: string[]): Promise<Suspect[]> {
  const { rows } = await sql<Suspect>`
    select p.resource_id, exists (select from cloud_drift d where d.resource_id = p.resource_id and d.status = 'open')
      or exists (select from cloud_drift_ignored i where i.resource_id = p.resource_id) as on_record
    from cloud_provisioned p where p.resource_id = any(${resourceIds}::uuid[]) order by p.resource_id`.execute(
    executor,
  )
  return rows
}

/** A field whose live value is not exactly the desired one. The values are JSON texts, so that no digit is lost. */
export interface Difference extends DriftSeen {
  kind: string
  /** Not a field differs: the resource itself is gone. */
  gone: boolean
}

export async function differencesOf(executor: Executor, resourceIds: string[]): Promise<Difference[]> {
  const live = sql.raw(liveValue('f.key'))
  const { rows } = await sql<Difference>`
    select p.resource_id, p.tenant_id, r.kind, f.key as field, f.value::text as desired, coalesce(${live}, 'null')::text as actual,
      false as gone
    from cloud_provisioned p join cloud_resources r on r.id = p.resource_id cross join lateral jsonb_each(p.spec) f
    where p.resource_id = any(${resourceIds}::uuid[]) and ${IN_FORCE} and r.deleted_at is null
      and ${sql.raw(isComparable('f.key'))} and ${live} is distinct from f.value
    union all
    select p.resource_id, p.tenant_id, r.kind, 'deleted_at', 'null', to_jsonb(iso8601(r.deleted_at))::text, true
    from cloud_provisioned p join cloud_resources r on r.id = p.resource_id
    where p.resource_id = any(${resourceIds}::uuid[]) and ${IN_FORCE} and r.deleted_at is not null`.execute(
    executor,
  )
  return rows
}

export interface Recorded {
  /** What needs an event: newly open, or open with another live value. */
  reported: DriftSeen[]
  open: number
  ignored: number
  stale: number
  /** Ids of what was opened or closed. */
  published: string[]
}

// The pattern of a rule in the syntax of LIKE.
const PATTERN = `replace(replace(replace(replace(r.field, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')`

/**
 * The provider's action behind the last event that changed the field, if an action of its type does; null where that event
 * names none.
 */
const LAST_ACTION = (row: string) => {
  const [id, field] = [sql.id(row, 'resource_id'), sql.id(row, 'field')]
  const changedBy = sql`${JSON.stringify(CHANGED_BY)}::jsonb -> (e.action ->> 'type')`
  return sql`(
    select case when coalesce(${changedBy} ?| array[${field}, 'attrs.' || ${field}], true) then e.action end
    from cloud_resource_events e
    where e.resource_id = ${id} and e.kind in ('updated', 'restored') and e.changes ?| array[${field}, 'attrs.' || ${field}]
    order by e.id desc limit 1)`
}

/**
 * Afterwards exactly what was found of these resources is open or ignored. The caller has locked their desired states.
 * Most open drift was open an hour ago: it is updated as a set, because a conflict for each row costs three times as much.
 */
export async function recordMismatches(
  tx: Executor,
  { at, actor }: { at: string; actor: string },
  resourceIds: string[],
  found: Difference[],
): Promise<Recorded> {
  const { rows } = await sql<Recorded>`
    with seen as (
      select s.resource_id, s.tenant_id, s.kind, s.field, s.desired::jsonb, s.actual::jsonb, i.id as rule_id from unnest(
        ${found.map(row => row.resource_id)}::uuid[], ${found.map(row => row.tenant_id)}::text[],
        ${found.map(row => row.kind)}::text[], ${found.map(row => row.field)}::text[], ${found.map(row => row.desired)}::text[],
        ${found.map(row => row.actual)}::text[], ${found.map(row => row.gone)}::boolean[]
      ) as s (resource_id, tenant_id, kind, field, desired, actual, gone)
      left join lateral (
        select r.id from drift_ignore_rules r
        where not s.gone and (r.expires_at is null or r.expires_at > ${at}::timestamptz)
          and (r.kind is null or r.kind = s.kind) and (r.resource_id is null or r.resource_id = s.resource_id)
          and s.field like ${sql.raw(PATTERN)}
        order by r.id limit 1) i on true
    ), known as (
      select id, resource_id, field, actual from cloud_drift
      where resource_id = any(${resourceIds}::uuid[]) and status = 'open'
    ), current as (
      select s.*, k.id, k.actual as before from seen s left join known k using (resource_id, field) where s.rule_id is null
    ), opened as (
      insert into cloud_drift (id, resource_id, tenant_id, kind, field, desired, actual, status, detected_at, last_detected_at, action)
      select uuid_v7(), resource_id, tenant_id, kind, field, desired, actual, 'open', ${at}, ${at}, ${LAST_ACTION('current')}
      from current where id is null
      order by resource_id, field
      on conflict (resource_id, field) where status = 'open' do update set
        desired = excluded.desired, actual = excluded.actual, last_detected_at = excluded.last_detected_at
      -- What was open already is updated, and such a row has an xmax.
      returning id, xmax = 0 as is_new
    ), still_open as (
      update cloud_drift d set desired = c.desired, actual = c.actual, last_detected_at = ${at},
        action = case when d.actual is distinct from c.actual then ${LAST_ACTION('c')} else d.action end
      from current c where d.id = c.id
    ), closed as (
      update cloud_drift d set status = 'stale', resolved_at = ${at}, resolved_by = ${actor}
      where d.resource_id = any(${resourceIds}::uuid[]) and d.status = 'open' and not exists (
        select from seen s where s.rule_id is null and s.resource_id = d.resource_id and s.field = d.field)
      returning d.id
    ), ignored as (
      insert into cloud_drift_ignored (id, resource_id, kind, field, desired, actual, rule_id, detected_at, last_detected_at)
      select uuid_v7(), resource_id, kind, field, desired, actual, rule_id, ${at}, ${at} from seen where rule_id is not null
      order by resource_id, field
      on conflict (resource_id, field) do update set desired = excluded.desired, actual = excluded.actual,
        rule_id = excluded.rule_id, last_detected_at = excluded.last_detected_at
      returning 1
    ), no_longer_ignored as (
      delete from cloud_drift_ignored g
      where g.resource_id = any(${resourceIds}::uuid[]) and not exists (
        select from seen s where s.rule_id is not null and s.resource_id = g.resource_id and s.field = g.field)
    )
    select
      (select coalesce(json_agg(json_build_object('resource_id', resource_id, 'tenant_id', tenant_id, 'field', field,
          'desired', desired::text, 'actual', actual::text) order by resource_id, field), '[]')
        from current where before is distinct from actual) as reported,
      (select count(*) from current)::int as open, (select count(*) from ignored)::int as ignored,
      (select count(*) from closed)::int as stale,
      array(select id from opened where is_new union all select id from closed) as published`.execute(tx)
  await publishDrift(tx, rows[0]!.published)
  return rows[0]!
}
