// What has changed between two moments, for each resource net: added, gone, or changed with what was and what is. In the order
// in which the resources last changed.
import { type Static, Type } from 'typebox'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { MOST_ROWS } from '../../kernel/http/pages.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { BEFORE_ALL } from './list-resources.ts'
import { FACETS_THEN } from './list-then.ts'
import { type Changes, FieldChanges, KindName } from './resource.ts'
import { heldAt } from './show-then.ts'
import { OWN_DEPLOYMENT } from './store.ts'
import { same } from './sweep-plan.ts'

export const NET_CHANGES = ['added', 'gone', 'changed'] as const

export const ResourceChange = noun('ResourceChange', {
  resource_id: Id,
  provider_id: Type.String(),
  kind: KindName,
  name: Type.String(),
  region: Nullable(Type.String()),
  tenant_id: Nullable(Type.String()),
  project_id: Nullable(Id),
  deployment_id: Nullable(Id),
  change: Type.Enum([...NET_CHANGES]),
  changed_at: Type.String({ ...Time, description: 'The last time in the span.' }),
  changes: Nullable(FieldChanges),
})

export const CHANGE_FILTERS = {
  from: Time,
  to: Type.String({ ...Time, description: 'Later than `from`.' }),
  change: Type.Optional(Type.Enum([...NET_CHANGES])),
  kind: Type.Optional(KindName),
  project_id: Type.Optional(Type.String({ ...Id, description: 'Before or after.' })),
  deployment_id: Type.Optional(Type.String({ ...Id, description: 'Before or after.' })),
}

type ChangeFilter = Omit<Static<ReturnType<typeof Type.Object<typeof CHANGE_FILTERS>>>, 'from' | 'to'> & {
  tenant_id?: string
}

export interface ListedChange {
  json: string
}

/** What the list is sorted by, of a row. */
export function keyOfChange({ json }: ListedChange): [changedAt: string, resourceId: string] {
  const { changed_at, resource_id } = JSON.parse(json) as Static<typeof ResourceChange>
  return [changed_at, resource_id]
}

const [FROM, TO, TENANT] = ['$2::timestamptz', '$3::timestamptz', '$6::text']

/** Each resource's version that began in the span and holds at its end. */
const HELD = `
  select v.*, v.valid_from as changed_at, true as held from resource_versions v
  where v.valid_from > ${FROM} and v.valid_from <= ${TO} and coalesce(v.valid_to, 'infinity') > ${TO}
    and (v.valid_from, v.resource_id) > ($4::timestamptz, $5::uuid)`

/**
 * And what a tenant had last and no longer has at the end: of what came after, not even the time is told. A version that never
 * held is none.
 */
const LOST = `
  select v.*, v.valid_to, false from resource_versions v
  where v.tenant_id = ${TENANT} and v.valid_to > ${FROM} and v.valid_to <= ${TO} and v.valid_from < v.valid_to
    and (v.valid_to, v.resource_id) > ($4::timestamptz, $5::uuid)
    and not exists (
      select from resource_versions n where n.resource_id = v.resource_id and n.tenant_id = ${TENANT}
        and n.valid_from >= v.valid_to and n.valid_from <= ${TO} and n.valid_from is distinct from n.valid_to)`

/**
 * The step by which a resource changed, where it was the only one in the span: what the event of it says is then net, and nothing
 * has to be compared. Most change once a day. A version from before there were events has none.
 */
const ONLY_STEP = `
  select s.kind, s.changes from cloud_resource_events s
  where s.id = e.event_id and s.kind in ('discovered', 'updated', 'restored', 'deleted') and not exists (
    select from resource_versions o where o.resource_id = e.resource_id and o.valid_from > ${FROM} and o.valid_from <= ${TO}
      and o.event_id <> e.event_id)`
/** To whom the resource came or from whom it went, an event does not tell. */
const NO_STEP = 'select null::text as kind, null::jsonb as changes'

const FIELDS = ['name', 'region', 'status', 'tags', 'tenant_id', 'project_id', 'deployment_id'] as const

const row = (version: string) => `(${[...FIELDS, 'attrs'].map(field => `${version}.${field}`).join(', ')})`

/** A version's fields as JSON, in their order, the attributes last. */
const fieldsJson = (version: string) =>
  `json_build_array(${[...FIELDS, 'attrs'].map(field => `${version}.${field}`).join(', ')})`

/** As events tell them: what is not there is null. Compared here: the database takes longer. */
function changedFields([before, after]: [unknown[], unknown[]]): Changes {
  const [was, is] = [fieldsIn(before), fieldsIn(after)]
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  const pairs = [...names].map(
    name => [name, { before: was[name] ?? null, after: is[name] ?? null }] as const,
  )
  return Object.fromEntries(pairs.filter(([, one]) => !same(one.before, one.after)))
}

function fieldsIn(values: unknown[]): Record<string, unknown> {
  const attrs = Object.entries(values.pop() as object).map(([key, value]) => [`attrs.${key}`, value])
  return Object.fromEntries([...FIELDS.map((field, n) => [field, values[n]]), ...attrs])
}

const COLUMNS = 'resource_id, kind, name, region, status, tags, tenant_id, project_id, attrs'

/** A page: the changes after `after`, by when they were last made. A tenant sees what came, went and changed for it. */
export async function listChanges(
  executor: Executor,
  scope: Scope,
  [from, to]: readonly [from: string, to: string],
  filter: ChangeFilter,
  limit: number,
  after: readonly [changedAt: string, resourceId: string] | null,
): Promise<ListedChange[]> {
  const tenant = scope.allTenants ? (filter.tenant_id ?? null) : scope.tenantId
  const values: unknown[] = [limit, from, to, after?.[0] ?? from, after?.[1] ?? BEFORE_ALL]
  if (tenant !== null) values.push(tenant)
  const own = tenant === null ? '' : `and v.tenant_id = ${TENANT}`
  const deployment = tenant === null ? 'v.deployment_id' : OWN_DEPLOYMENT
  const fields = `select ${COLUMNS}, ${deployment} as deployment_id`
  const before = `${fields} from resource_versions v
    where s.kind is null and v.resource_id = e.resource_id and v.deleted_at is null ${own} and ${heldAt(FROM)} order by v.valid_from desc limit 1`
  const now = `${fields} from (select e.*) v where v.held and v.deleted_at is null`
  const held = tenant === null ? heldEver(filter, values) : ''
  const where = [`(s.kind is not null or ${row('a')} is distinct from ${row('b')})`]
  if (filter.change !== undefined) {
    where.push(`${CHANGE} = $${values.push(filter.change)}`)
    // Known at once, before anything is looked up.
    if (tenant === null) where.push(`e.deleted_at is ${filter.change === 'gone' ? 'not null' : 'null'}`)
  }
  if (filter.kind !== undefined) where.push(`e.kind = $${values.push(filter.kind)}`)
  if (filter.project_id !== undefined)
    where.push(`$${values.push(filter.project_id)}::uuid in (a.project_id, b.project_id)`)
  if (filter.deployment_id !== undefined)
    where.push(`$${values.push(filter.deployment_id)}::uuid in (a.deployment_id, b.deployment_id)`)
  // A limit that comes as a parameter is taken for a tenth of all rows, and the statement is planned anew each time: the other tells
  // the planner how few they are. What is looked for by project or deployment is better planned each time.
  const text = `select json, step, ends from (
    select e.changed_at, e.resource_id, ${SHOWN_JSON}::text as json, case when s.kind = 'updated' then s.changes::text end as step,
      case when a.resource_id is not null and b.resource_id is not null then json_build_array(${fieldsJson('b')}, ${fieldsJson('a')})::text end as ends
    from (${HELD} ${own} ${held} ${tenant === null ? '' : `union all ${LOST}`}) e
    left join lateral (${tenant === null && held === '' ? ONLY_STEP : NO_STEP}) s on true
    left join lateral (${before}) b on true
    left join lateral (${now}) a on true
    where ${where.join(' and ')}
    order by e.changed_at, e.resource_id limit ${MOST_ROWS + 1}) page order by changed_at, resource_id limit $1`
  const name = held === '' ? 'inventory_changes' : ''
  const rows = await runStatement<Net>(executor, { name, text }, values)
  return rows.map(({ json, step, ends }) => {
    const changes = step === null ? ends && changedFields(JSON.parse(ends)) : JSON.parse(step)
    return { json: JSON.stringify({ ...JSON.parse(json), changes }) }
  })
}

interface Net {
  /** All but the changes. */
  json: string
  /** The changes by the only step, as JSON. */
  step: string | null
  /** The fields at either end, where they are to be compared. */
  ends: string | null
}

/**
 * What ever was the project's or the deployment's that is asked for. Whether it was at either end is told by the versions there,
 * not by the step between them.
 */
function heldEver({ project_id, deployment_id }: ChangeFilter, values: unknown[]): string {
  const [column, id] =
    deployment_id === undefined ? ['project_id', project_id] : ['deployment_id', deployment_id]
  if (id === undefined) return ''
  return `and v.resource_id in (
    select o.resource_id from resource_versions o
    where o.valid_to is not null and ${FACETS_THEN} @> array['${column![0]}' || $${values.push(id)}::uuid]
    union all select r.id from cloud_resources r where r.${column} = $${values.length}::uuid)`
}

const CHANGE = `case
  when s.kind is not null then case s.kind when 'updated' then 'changed' when 'deleted' then 'gone' else 'added' end
  when b.resource_id is null then 'added' when a.resource_id is null then 'gone' else 'changed' end`

/** Of what is gone as it was; what a deletion alone has changed is as it was but for that. */
const atEitherEnd = (field: string) =>
  `case when a.resource_id is not null then a.${field} when s.kind is not null then e.${field} else b.${field} end`

/** SQL of each field but `changes`, in their order. */
const SHOWN: Record<Exclude<keyof Static<typeof ResourceChange>, 'changes'>, string> = {
  resource_id: 'e.resource_id',
  provider_id: '(select r.provider_id from cloud_resources r where r.id = e.resource_id)',
  kind: 'e.kind',
  name: atEitherEnd('name'),
  region: atEitherEnd('region'),
  tenant_id: atEitherEnd('tenant_id'),
  project_id: atEitherEnd('project_id'),
  deployment_id: atEitherEnd('deployment_id'),
  change: CHANGE,
  changed_at: 'iso8601(e.changed_at)',
}

/** All of them are texts: written so they take a third of what json_build_object does with columns of any type. */
const SHOWN_JSON = `json_object('{${Object.keys(SHOWN)}}', array[${Object.values(SHOWN)
  .map(of => `(${of})::text`)
  .join(', ')}])`
