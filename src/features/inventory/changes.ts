// What has changed between two moments, for each resource net: added, gone, or changed with what was and what is. In the order
// in which the resources last changed.
import { type Static, Type } from 'typebox'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import { BEFORE_ALL } from './list-resources.ts'
import { heldAt } from './list-then.ts'
import { type Changes, FieldChanges, KindName } from './resource.ts'
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
  resource_id: string
  changed_at: string
  json: string
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

const FIELDS = ['name', 'region', 'status', 'tags', 'tenant_id', 'project_id', 'deployment_id'] as const

const row = (version: string) => `(${[...FIELDS, 'attrs'].map(field => `${version}.${field}`).join(', ')})`

/** A version's fields as JSON text, in their order, the attributes last. */
const fieldsJson = (version: string) =>
  `case when a.resource_id is not null then json_build_array(${[...FIELDS, 'attrs'].map(field => `${version}.${field}`).join(', ')})::text end`

/** As events tell them: what is not there is null. Compared here: the database takes longer. */
function changedFields(before: string, after: string): Changes {
  const [was, is] = [fieldsIn(before), fieldsIn(after)]
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  const pairs = [...names].map(
    name => [name, { before: was[name] ?? null, after: is[name] ?? null }] as const,
  )
  return Object.fromEntries(pairs.filter(([, one]) => !same(one.before, one.after)))
}

function fieldsIn(text: string): Record<string, unknown> {
  const values = JSON.parse(text) as unknown[]
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
    where v.resource_id = e.resource_id and v.deleted_at is null ${own} and ${heldAt(FROM)} order by v.valid_from desc limit 1`
  const now = `${fields} from (select e.*) v where v.held and v.deleted_at is null`
  const where = [`${row('a')} is distinct from ${row('b')}`]
  if (filter.change !== undefined) where.push(`${CHANGE} = $${values.push(filter.change)}`)
  if (filter.kind !== undefined) where.push(`coalesce(a.kind, b.kind) = $${values.push(filter.kind)}`)
  if (filter.project_id !== undefined)
    where.push(`$${values.push(filter.project_id)}::uuid in (a.project_id, b.project_id)`)
  if (filter.deployment_id !== undefined)
    where.push(`$${values.push(filter.deployment_id)}::uuid in (a.deployment_id, b.deployment_id)`)
  const json = jsonOf(ResourceChange, 'e', {
    ...Object.fromEntries(
      ['kind', 'name', 'region', 'tenant_id', 'project_id', 'deployment_id'].map(field => [
        field,
        shown(field),
      ]),
    ),
    provider_id: '(select r.provider_id from cloud_resources r where r.id = e.resource_id)',
    change: CHANGE,
    changes: null,
  })
  const text = `
    select e.resource_id, iso8601(e.changed_at) as changed_at, ${json}::text as json,
      case when b.resource_id is not null then ${fieldsJson('b')} end as before, case when b.resource_id is not null then ${fieldsJson('a')} end as after
    from (${HELD} ${own} ${tenant === null ? '' : `union all ${LOST}`}) e
    left join lateral (${before}) b on true
    left join lateral (${now}) a on true
    where ${where.join(' and ')}
    order by e.changed_at, e.resource_id limit $1`
  const rows = await runStatement<ListedChange & { before: string | null; after: string | null }>(
    executor,
    { name: 'inventory_changes', text },
    values,
  )
  return rows.map(({ before, after: now, json, ...row }) => {
    const changes = before !== null && now !== null ? changedFields(before, now) : null
    return { ...row, json: JSON.stringify({ ...JSON.parse(json), changes }) }
  })
}

const CHANGE = `case when b.resource_id is null then 'added' when a.resource_id is null then 'gone' else 'changed' end`

const shown = (field: string) => `case when a.resource_id is null then b.${field} else a.${field} end`
