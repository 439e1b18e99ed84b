// A page of the inventory as it was at a moment, whatever it is filtered by. As today's list (list-resources.ts) it walks
// along an index that knows the order of ids, no further than pays, and then asks the index that knows all columns.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { jsonOf } from '../../kernel/noun.ts'
import {
  BEFORE_ALL,
  BOUNDS,
  type Bounds,
  FACETS,
  type InventoryFilter,
  LETTERS,
  LIVING,
} from './list-resources.ts'
import { Resource, ResourceDetail } from './resource.ts'
import { latestEvents, OWN_DEPLOYMENT, type ResourceJson } from './store.ts'

type FilterName = Exclude<keyof InventoryFilter, 'include_deleted' | 'missing'>

/** Each filter's condition on a version `v`, with its parameter's place to be filled in. */
const CONDITIONS: Record<FilterName, (parameter: string) => string> = {
  kind: p => `v.kind = ${p}`,
  region: p => `v.region = ${p}`,
  status: p => `v.status = ${p}`,
  project_id: p => `v.project_id = ${p}::uuid`,
  deployment_id: p => `v.deployment_id = ${p}::uuid`,
  name: p => `v.name = ${p}`,
  tag: p => `v.tags @> array[${p}]::text[]`,
  tenant_id: p => `v.tenant_id = ${p}`,
}

/** The index of migrations/0040_inventory_then_and_relations.sql, word for word. */
const FACETS_THEN = `(array[
  'k' || kind, 'n' || name, 'r' || region, 's' || status, 'p' || project_id::text, 'd' || deployment_id::text,
  't' || tenant_id, case when deleted_at is null then 'l' end])`
const LETTERS_THEN: Partial<Record<FilterName, string>> = { ...LETTERS, name: 'n' }

/** Of a value of these there are few: they are looked up at once. */
const SELECTIVE = new Set<FilterName>(['deployment_id', 'name', 'project_id'])

/** One in so many of a page's rows. */
const SOME = 8

/** SQL: whether the version `v` held at the time `at`. */
export const heldAt = (at: string, v = 'v'): string =>
  `${v}.valid_from <= ${at} and (${v}.valid_to is null or ${v}.valid_to > ${at})`

/** The version of a resource that held at a time. */
const versionAt = (resourceId: string, at: string): string => `
  select * from resource_versions v where v.resource_id = ${resourceId} and ${heldAt(at)} order by v.valid_from desc limit 1`

/**
 * The fields of a resource as it was when `v` held; `r` is its row. When it was seen and how often it was missed have no
 * history: it is shown as seen at the moment asked for if it was seen later, and its strikes if they have been counted since
 * it was last seen. At this moment that is what today's list says. A tenant is not shown a deployment of another's that
 * the resource was still tied to.
 */
export const fieldsThen = (at: string, ownAlone: boolean): Record<string, string> => ({
  id: 'r.id',
  provider: 'r.provider',
  provider_id: 'r.provider_id',
  first_seen_at: 'iso8601(r.first_seen_at)',
  last_seen_at: `iso8601(least(r.last_seen_at, ${at}))`,
  stale_strike_count: `case when v.valid_to is null and r.last_seen_at <= ${at} then r.stale_strike_count else 0 end`,
  missing_since: `case when v.valid_to is null and r.stale_strike_count > 0 and coalesce(r.missing_since, r.last_seen_at) <= ${at}
    then iso8601(coalesce(r.missing_since, r.last_seen_at)) end`,
  ...(ownAlone && { deployment_id: OWN_DEPLOYMENT }),
})

/**
 * The resource as it was, with its latest events until then, as JSON text; undefined where the caller did not have it. What was
 * desired of it and had drifted then is not kept.
 */
export async function showResourceThen(
  executor: Executor,
  scope: Scope,
  id: string,
  at: string,
): Promise<string | undefined> {
  const time = '$3::timestamptz'
  const json = jsonOf(ResourceDetail, 'v', {
    ...fieldsThen(time, !scope.allTenants),
    events: `(${latestEvents(time)})`,
    desired_state: 'null::json',
    drift: `'[]'::json`,
  })
  const text = `select ${json}::text as json from cloud_resources r cross join lateral (${versionAt('r.id', time)}) v
    where r.id = $1::uuid and ($2::text is null or v.tenant_id = $2)`
  const tenant = scope.allTenants ? null : scope.tenantId
  const rows = await runStatement<{ json: string }>(executor, { name: 'inventory_show_then', text }, [
    id,
    tenant,
    at,
  ])
  return rows[0]?.json
}

interface Question {
  /** Whose time it is about; null: everybody's. */
  tenant: string | null
  asked: [FilterName, string][]
  ownAlone: boolean
  includeDeleted: boolean
  at: string
  limit: number
  after: string
  bounds: Bounds
}

/** A page in the order of ids, of what a tenant had at that moment. */
export async function listResourcesThen(
  executor: Executor,
  scope: Scope,
  { include_deleted: includeDeleted, ...filter }: InventoryFilter,
  at: string,
  limit: number,
  after: string | null,
  bounds = BOUNDS,
): Promise<ResourceJson[]> {
  const tenant = scope.allTenants ? (filter.tenant_id ?? null) : scope.tenantId
  const asked: [FilterName, string][] = []
  for (const name of Object.keys(CONDITIONS) as FilterName[]) {
    const value = filter[name]
    if (value !== undefined && !(name === 'tenant_id' && value === tenant)) asked.push([name, value])
  }
  const question = {
    ...{ tenant, asked, includeDeleted, at, limit, bounds },
    ownAlone: !scope.allTenants,
    after: after ?? BEFORE_ALL,
  }
  if (asked.some(([name]) => SELECTIVE.has(name)))
    return (await pick(executor, question)) ?? walk(executor, question, null)
  const near = await walk(executor, question, bounds.walk)
  if (near.length === limit || (await isShort(executor, question))) return near
  // Where a short walk has found some, a longer one soon finds the rest; along what is asked for, it passes little else.
  if (near.length * SOME >= limit || asked.every(([name]) => name === 'kind'))
    return walk(executor, question, null)
  return (await pick(executor, question)) ?? walk(executor, question, null)
}

/** What is left to be compared of a version once its leading column is. */
function conditions({ asked, includeDeleted, ownAlone }: Question, values: unknown[]): string[] {
  const where = asked.map(([name, value]) => CONDITIONS[name](`$${values.push(value)}`))
  if (!includeDeleted) where.push('v.deleted_at is null')
  if (ownAlone && asked.some(([name]) => name === 'deployment_id'))
    where.push(`${OWN_DEPLOYMENT} is not null`)
  return where
}

const and = (where: string[]): string => where.map(one => `and ${one}`).join(' ')

const json = ({ ownAlone }: Question): string =>
  `${jsonOf(Resource, 'v', fieldsThen('$3::timestamptz', ownAlone))}::text as json`

/**
 * Reads along the ids and looks at no more than `most` rows: of a tenant along what it had at the moment, which its index
 * decides; otherwise along the resources, each looked up as it was. `any` keeps the planner to the index (list-resources.ts).
 */
function walk(executor: Executor, question: Question, most: number | null): Promise<ResourceJson[]> {
  const { tenant, limit, after, at } = question
  const values: unknown[] = [limit, after, at]
  const along = alongIndex(question, values)
  const where = conditions(question, values)
  const far = most === null
  const short = (rows: string, order: string) =>
    far ? rows : `${rows} order by ${order} limit $${values.push(most)}`
  const text =
    tenant !== null
      ? `select r.id, ${json(question)} from (
          select * from (select v.* ${short(along, 'v.tenant_id, v.resource_id')}) v where true ${and(where)}
          order by v.tenant_id, v.resource_id limit $1) v
        cross join lateral (select * from cloud_resources r where r.id = v.resource_id offset 0) r order by v.tenant_id, v.resource_id`
      : `select r.id, ${json(question)} from (select r.* ${short(`${along}${far ? ' and r.first_seen_at <= $3::timestamptz' : ''}`, ORDER(question))}) r
        cross join lateral (${versionAt('r.id', '$3::timestamptz')}) v
        where r.first_seen_at <= $3::timestamptz ${and(where)} order by ${ORDER(question)} limit $1`
  return runStatement(executor, { name: 'inventory_then', text }, values)
}

const kindOf = ({ asked }: Question) => asked.find(([name]) => name === 'kind')?.[1]
const ORDER = (question: Question): string => (kindOf(question) === undefined ? 'r.id' : 'r.kind, r.id')

function alongIndex(question: Question, values: unknown[]): string {
  const { tenant } = question
  if (tenant !== null)
    return `from resource_versions v where v.tenant_id = any(array[$${values.push(tenant)}]::text[]) and v.resource_id > $2::uuid
      and v.valid_from <= $3::timestamptz and coalesce(v.valid_to, 'infinity') > $3::timestamptz`
  const kind = kindOf(question)
  // A resource is of one kind for ever.
  const ofKind = kind === undefined ? '' : `r.kind = any(array[$${values.push(kind)}]::text[]) and `
  return `from cloud_resources r where ${ofKind}r.id > $2::uuid`
}

/** Whether the short walk came to the end of its index: then it has seen all there is. */
async function isShort(executor: Executor, question: Question): Promise<boolean> {
  const { tenant, after, at, bounds } = question
  const values: unknown[] = [bounds.walk, after, at]
  const along = alongIndex(question, values)
  const order = tenant === null ? ORDER(question) : 'v.tenant_id, v.resource_id'
  const text = `select count(*)::int as walked from (select 1 ${along} and $3::timestamptz is not null order by ${order} limit $1) walked`
  const [row] = await runStatement<{ walked: number }>(
    executor,
    { name: 'inventory_then_short', text },
    values,
  )
  return row!.walked < bounds.walk
}

/**
 * Takes what all conditions leave, if that is not too much to sort; undefined if it is. What has ended since is found by the
 * index of ended versions, what has not by the resource as it is.
 */
function pick(executor: Executor, question: Question): Promise<ResourceJson[] | undefined> {
  const { tenant, asked, includeDeleted, limit, after, at, bounds } = question
  const all: [FilterName, string][] = tenant === null ? asked : [...asked, ['tenant_id', tenant]]
  const facets = (letters: typeof LETTERS) => [
    ...all.flatMap(([name, value]) => (letters[name] ? [`${letters[name]}${value}`] : [])),
    ...(includeDeleted ? [] : [LIVING]),
  ]
  const values: unknown[] = [limit, after, at, bounds.few + 1]
  const others = (letters: typeof LETTERS, row: string) =>
    all.flatMap(([name, value]) =>
      letters[name] ? [] : [CONDITIONS[name](`$${values.push(value)}`).replaceAll('v.', `${row}.`)],
    )
  const where = (expression: string, letters: typeof LETTERS, row: string) => {
    const keys = facets(letters)
    return [
      ...(keys.length > 0 ? [`${expression} @> $${values.push(keys)}::text[]`] : []),
      ...others(letters, row),
    ]
  }
  const [ended, open] = [where(FACETS_THEN, LETTERS_THEN, 'v'), where(FACETS, LETTERS, 'r')]
  if (ended.length === 0 || open.length === 0) return Promise.resolve(undefined)
  const own =
    question.ownAlone && asked.some(([name]) => name === 'deployment_id')
      ? `and ${OWN_DEPLOYMENT} is not null`
      : ''
  const text = `
    with found as materialized (
      (select v.resource_id, v.valid_from, v.event_id from resource_versions v
        where v.valid_to is not null and v.valid_from <= $3::timestamptz and v.valid_to > $3::timestamptz ${and(ended)} ${own} limit $4)
      union all
      (select v.resource_id, v.valid_from, v.event_id from (select r.id from cloud_resources r where ${open.join(' and ')} offset 0) r
        join resource_versions v on v.resource_id = r.id and v.valid_to is null and v.valid_from <= $3::timestamptz where true ${own} limit $4)
    ), page as (
      select * from found where resource_id > $2::uuid and (select count(*) from found) < $4 order by resource_id limit $1)
    select (select count(*)::int from found) as found, p.resource_id as id, shown.json from (select 1) one left join page p on true
    left join lateral (select ${json(question)} from resource_versions v join cloud_resources r on r.id = v.resource_id
      where v.resource_id = p.resource_id and v.valid_from = p.valid_from and v.event_id = p.event_id) shown on true
    order by p.resource_id`
  return transaction(executor, async tx => {
    // It must be the index: the planner takes values that are common each by itself for common together.
    await runStatement(tx, { name: '', text: 'set local enable_seqscan = off' }, [])
    const rows = await runStatement<ResourceJson & { found: number }>(tx, { name: '', text }, values)
    if (rows[0]!.found > bounds.few) return undefined
    return rows.filter(row => row.id !== null)
  })
}
