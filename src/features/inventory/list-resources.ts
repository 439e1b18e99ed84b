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
  if (missing) return walk(executor, { ...question, leading: undefined, includeDeleted: false }, null)
  const near = await walk(executor, question, bounds.walk)
  if (near.length === limit || (await isShort(executor, question))) return near
  return (await pick(executor, question)) ?? walk(executor, question, null)
}

/**
 * Reads along the leading column's index and looks at no more than `most` rows. Written as `column = …` the planner
 * would know that the order by id alone is the same, and for a value it takes for common it would walk the primary key
 * instead: past a million of other kinds, say, when the first sweep stored those before. `any` hides it.
 */
function walk(executor: Executor, question: Question, most: number | null): Promise<ResourceJson[]> {
  const { asked, leading, includeDeleted, missing, limit, after } = question
  const values: unknown[] = [limit, after]
  const where = includeDeleted ? [] : ['deleted_at is null']
  if (missing) where.push(isMissing('r'))
  for (const condition of asked) {
    if (condition === leading) continue
    values.push(condition[1])
    where.push(CONDITIONS[condition[0]](`$${values.length}`))
  }
  const order = leading ? `${leading[0]}, id` : 'id'
  const along = alongIndex(question, values)
  // The other conditions stand outside of a short walk, or they would be looked for beyond its end.
  const rows =
    most === null
      ? `${along} ${where.map(one => `and ${one}`).join(' ')}`
      : `from (select * ${along} order by ${order} limit $${values.push(most)}) r
        ${where.length > 0 ? `where ${where.join(' and ')}` : ''}`
  const used = [
    ...asked.map(([name]) => name),
    ...(includeDeleted ? ['all'] : []),
    ...(missing ? ['missing'] : []),
  ]
  const name = `inventory${most === null ? '_far' : ''}:${used.map(shortName).join('')}`
  const text = `select id, ${RESOURCE_JSON} as json ${rows} order by ${order} limit $1`
  return runStatement(executor, { name, text }, values)
}

function alongIndex({ leading }: Question, values: unknown[]): string {
  if (!leading) return 'from cloud_resources r where id > $2::uuid'
  const [column, value] = leading
  const type = UUIDS.has(column) ? 'uuid' : 'text'
  return `from cloud_resources r where ${column} = any(array[$${values.push(value)}]::${type}[]) and id > $2::uuid`
}

/** Whether the short walk came to the end of its index: then it has seen all there is. */
async function isShort(executor: Executor, question: Question): Promise<boolean> {
  const { leading, after, bounds } = question
  const values: unknown[] = [bounds.walk, after]
  const text = `select count(*)::int as walked from (
    select id ${alongIndex(question, values)} order by ${leading ? `${leading[0]}, id` : 'id'} limit $1) walked`
  const name = `inventory_short:${leading ? shortName(leading[0]) : ''}`
  const [row] = await runStatement<{ walked: number }>(executor, { name, text }, values)
  return row!.walked < bounds.walk
}

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
