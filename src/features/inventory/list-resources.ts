// A page of the inventory, whatever it is filtered by. Mostly the page's rows lie close together along one column's index.
// Where they do not, a walk along it could pass a million rows to find none, so it is broken off early, and the one
// index that knows all columns is asked which rows there are at all.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { isMissing } from './resource.ts'
import { RESOURCE_JSON, type ResourceJson } from './store.ts'

export interface InventoryFilter {
  kind?: string
  region?: string
  status?: string
  project_id?: string
  deployment_id?: string
  name?: string
  tag?: string
  tenant_id?: string
  /** Living, and not seen by the last whole sweep. */
  missing?: boolean
  include_deleted: boolean
}

export interface Bounds {
  /** How many rows a walk looks at before it is broken off. */
  walk: number
  /** Up to so many rows are sorted; of more, a walk passes enough. */
  few: number
}

export const BOUNDS: Bounds = { walk: 2_000, few: 8_000 }

type FilterName = Exclude<keyof InventoryFilter, 'include_deleted' | 'missing'>

/** Each filter's condition, with its parameter's place to be filled in. */
const CONDITIONS: Record<FilterName, (parameter: string) => string> = {
  kind: p => `kind = ${p}`,
  region: p => `region = ${p}`,
  status: p => `status = ${p}`,
  project_id: p => `project_id = ${p}::uuid`,
  deployment_id: p => `deployment_id = ${p}::uuid`,
  name: p => `name = ${p}`,
  tag: p => `tags @> array[${p}]::text[]`,
  tenant_id: p => `tenant_id = ${p}`,
}

/** The index of migrations/0021_facets_of_resources.sql, word for word. */
export const FACETS = `(array[
  'k' || kind, 'r' || region, 's' || status, 'p' || project_id::text, 'd' || deployment_id::text, 't' || tenant_id,
  case when deleted_at is null then 'l' end])`
export const LIVING = 'l'
/** The letter of each column in it. */
export const LETTERS: Partial<Record<FilterName, string>> = {
  kind: 'k',
  region: 'r',
  status: 's',
  project_id: 'p',
  deployment_id: 'd',
  tenant_id: 't',
}

/** PostgreSQL tells statements apart by 63 characters of their name, fewer than all filters together have. */
const shortName = (part: string) => part.slice(0, 3)

/** Columns with an index on (column, id), the one that leaves fewest rows first. */
const LEADING = ['deployment_id', 'name', 'project_id', 'tenant_id', 'region', 'kind', 'status'] as const
const UUIDS = new Set<FilterName>(['project_id', 'deployment_id'])

/** Sorts before every id there is. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

interface Question {
  asked: [FilterName, string][]
  leading: [FilterName, string] | undefined
  includeDeleted: boolean
  missing: boolean
  limit: number
  after: string
  bounds: Bounds
}

/** A page in the order of ids. */
export async function listResources(
  executor: Executor,
  scope: Scope,
  filter: InventoryFilter,
  limit: number,
  after: string | null,
  bounds = BOUNDS,
): Promise<ResourceJson[]> {
  const asked: [FilterName, string][] = scope.allTenants ? [] : [['tenant_id', scope.tenantId]]
  for (const name of Object.keys(CONDITIONS) as FilterName[]) {
    const value = filter[name]
    if (value !== undefined) asked.push([name, value])
  }
  const leading = LEADING.map(column => asked.find(([name]) => name === column)).find(Boolean)
  const { include_deleted: includeDeleted, missing = false } = filter
  const question = { asked, leading, includeDeleted, missing, limit, after: after ?? BEFORE_ALL, bounds }
  // They are few, and have an index of their own (0039).
  if (missing) return walk(executor, { ...question, leading: undefined, includeDeleted: false })
  const { rows, ended } = await shortWalk(executor, question)
  if (rows.length === limit || ended) return rows
  return (await pick(executor, question)) ?? walk(executor, question)
}

/** Reads along the leading column's index until the page is full. */
function walk(executor: Executor, question: Question): Promise<ResourceJson[]> {
  const values: unknown[] = [question.limit, question.after]
  const along = alongIndex(question, values)
  const where = otherConditions(question, values).map(condition => `and ${condition}`)
  const order = orderOf(question)
  const text = `select id, ${RESOURCE_JSON} as json ${along} ${where.join(' ')} order by ${order} limit $1`
  return runStatement(executor, { name: `inventory_far:${shortNames(question)}`, text }, values)
}

/**
 * The same, but looks at no more than a few rows. The last that it may look at is shown whether it fits or not: where it is
 * missing, and the page is not full, the walk came to the end of the index and has seen all there is.
 */
async function shortWalk(
  executor: Executor,
  question: Question,
): Promise<{ rows: ResourceJson[]; ended: boolean }> {
  const { limit, after, bounds } = question
  const values: unknown[] = [limit, after]
  const along = alongIndex(question, values)
  // These stand outside of the walk, or they would be looked for beyond its end.
  const fits = otherConditions(question, values).join(' and ') || 'true'
  const order = orderOf(question)
  const most = `$${values.push(bounds.walk)}`
  const text = `
    select id, ${RESOURCE_JSON} as json, case when walked = ${most} then coalesce(${fits}, false) end as last_fits
    from (select r.*, row_number() over (order by ${order}) as walked ${along} order by ${order} limit ${most}) r
    where (${fits}) or walked = ${most} order by ${order} limit $1`
  const statement = { name: `inventory:${shortNames(question)}`, text }
  const shown = await runStatement<Walked>(executor, statement, values)
  const last = shown.at(-1)?.last_fits ?? null
  return { rows: last === false ? shown.slice(0, -1) : shown, ended: last === null }
}

interface Walked extends ResourceJson {
  /** Whether it fits; null for all but the last row that the walk may look at. */
  last_fits: boolean | null
}

/**
 * Written as `column = …` the planner would know that the order by id alone is the same, and for a value it takes for
 * common it would walk the primary key instead: past a million of other kinds, say, when the first sweep stored those
 * before. `any` hides it.
 */
function alongIndex({ leading }: Question, values: unknown[]): string {
  if (!leading) return 'from cloud_resources r where id > $2::uuid'
  const [column, value] = leading
  const type = UUIDS.has(column) ? 'uuid' : 'text'
  return `from cloud_resources r where ${column} = any(array[$${values.push(value)}]::${type}[]) and id > $2::uuid`
}

const orderOf = ({ leading }: Question): string => (leading ? `${leading[0]}, id` : 'id')

/** Conditions on a row that the index does not see to. */
function otherConditions({ asked, leading, includeDeleted, missing }: Question, values: unknown[]): string[] {
  const others = asked.filter(condition => condition !== leading)
  return [
    ...(includeDeleted ? [] : ['deleted_at is null']),
    ...(missing ? [isMissing('r')] : []),
    ...others.map(([name, value]) => CONDITIONS[name](`$${values.push(value)}`)),
  ]
}

const shortNames = ({ asked, includeDeleted, missing }: Question): string =>
  [...asked.map(([name]) => name), ...(includeDeleted ? ['all'] : []), ...(missing ? ['missing'] : [])]
    .map(shortName)
    .join('')

/** Takes what all conditions leave, if that is not too much to sort; undefined if it is. */
function pick(executor: Executor, question: Question): Promise<ResourceJson[] | undefined> {
  const { asked, includeDeleted, limit, after, bounds } = question
  const facets = asked.flatMap(([name, value]) => (LETTERS[name] ? [`${LETTERS[name]}${value}`] : []))
  if (!includeDeleted) facets.push(LIVING)
  const values: unknown[] = [limit, after, bounds.few + 1]
  const where = facets.length > 0 ? [`${FACETS} @> $${values.push(facets)}::text[]`] : []
  for (const [name, value] of asked)
    if (LETTERS[name] === undefined) where.push(CONDITIONS[name](`$${values.push(value)}`))
  if (where.length === 0) return Promise.resolve(undefined)
  const text = `
    with found as materialized (select id from cloud_resources where ${where.join(' and ')} limit $3),
      page as (select id from found where id > $2::uuid and (select count(*) from found) < $3 order by id limit $1)
    select (select count(*)::int from found) as found, p.id, r.json from (select 1) one left join page p on true
    left join lateral (select ${RESOURCE_JSON} as json from cloud_resources r where r.id = p.id) r on true order by p.id`
  return transaction(executor, async tx => {
    // It must be the index: the planner takes values that are common each by itself for common together.
    await runStatement(tx, { name: '', text: 'set local enable_seqscan = off' }, [])
    const rows = await runStatement<ResourceJson & { found: number }>(tx, { name: '', text }, values)
    if (rows[0]!.found > bounds.few) return undefined
    return rows.filter(row => row.id !== null)
  })
}
