// A page of the inventory as it was at a moment, whatever it is filtered by. As today's list (list-resources.ts) it walks
// along an index that knows the order of ids, no further than pays, and then asks the index that knows all columns. Where
// neither tells, because a value was common at another time, the page is what a long walk finds, and the next goes on there.
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
import { Resource } from './resource.ts'
import { fieldsThen, versionAt } from './show-then.ts'
import { OWN_DEPLOYMENT, type ResourceJson } from './store.ts'

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
export const FACETS_THEN = `(array[
  'k' || kind, 'n' || name, 'r' || region, 's' || status, 'p' || project_id::text, 'd' || deployment_id::text,
  't' || tenant_id, case when deleted_at is null then 'l' end])`
const LETTERS_THEN: Partial<Record<FilterName, string>> = { ...LETTERS, name: 'n' }

/** Of a value of these there are few: they are looked up at once. */
const SELECTIVE = new Set<FilterName>(['deployment_id', 'name', 'project_id'])

/** One in so many of a page's rows. */
const SOME = 8

interface BoundsThen extends Bounds {
  /** Up to so many resources are looked up one by one. */
  rest: number
  /** Ended versions that are read at once, whenever they held. */
  ended: number
  /** How many rows the longest walk looks at. */
  far: number
}

export const BOUNDS_THEN: BoundsThen = { ...BOUNDS, rest: 8_000, ended: 40_000, far: 5_000 }

interface Question {
  /** Whose time it is about; null: everybody's. */
  tenant: string | null
  asked: [FilterName, string][]
  ownAlone: boolean
  includeDeleted: boolean
  at: string
  limit: number
  after: string
  bounds: BoundsThen
}

interface Found {
  rows: ResourceJson[]
  /** Where the search was broken off, though more may follow; null: these are all, or a whole page. */
  until: string | null
}

/** A page in the order of ids, of what a tenant had at that moment. */
export async function listResourcesThen(
  at: string,
  executor: Executor,
  scope: Scope,
  { include_deleted: includeDeleted, ...filter }: InventoryFilter,
  limit: number,
  after: string | null,
  bounds = BOUNDS_THEN,
): Promise<Found> {
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
  const whole = (rows: ResourceJson[]): Found => ({ rows, until: null })
  const selective = asked.some(([name]) => SELECTIVE.has(name))
  const picked = selective ? await pick(executor, question) : undefined
  if (picked) return whole(picked)
  const near = await walk(executor, question, bounds.walk)
  if (near.length === limit || (await endOfWalk(executor, question, bounds.walk)) === null) return whole(near)
  const rest = await listRest(executor, question)
  if (rest) return whole(rest)
  // Where a short walk has found some, a longer one soon finds the rest; along what is asked for, it passes little else.
  const isNear = near.length * SOME >= limit || asked.every(([name]) => name === 'kind')
  const few = selective || isNear ? undefined : await pick(executor, question)
  if (few) return whole(few)
  const far = await walk(executor, question, bounds.far)
  return { rows: far, until: far.length === limit ? null : await endOfWalk(executor, question, bounds.far) }
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
function walk(executor: Executor, question: Question, most: number): Promise<ResourceJson[]> {
  const { tenant, limit, after, at } = question
  const values: unknown[] = [limit, after, at]
  const along = alongIndex(question, values)
  const where = conditions(question, values)
  const text =
    tenant !== null
      ? `select r.id, ${json(question)} from (
          select * from (select v.* ${along} limit ${most}) v where true ${and(where)} order by v.tenant_id, v.resource_id limit $1) v
        cross join lateral (select * from cloud_resources r where r.id = v.resource_id offset 0) r order by v.tenant_id, v.resource_id`
      : // Limited twice, of which the planner takes a tenth of a tenth to be meant: then it plans the statement once for all (changes.ts).
        `select id, json from (
          select r.kind, r.id, ${json(question)} from (select r.* ${along} limit ${most}) r
          cross join lateral (${versionAt('r.id', '$3::timestamptz')}) v
          where r.first_seen_at <= $3::timestamptz ${and(where)} order by ${ORDER(question)} limit $1) r
        order by ${ORDER(question)} limit $1`
  return runStatement(executor, { name: 'inventory_then', text }, values)
}

const kindOf = ({ asked }: Question) => asked.find(([name]) => name === 'kind')?.[1]
const ORDER = (question: Question): string => (kindOf(question) === undefined ? 'r.id' : 'r.kind, r.id')

function alongIndex(question: Question, values: unknown[]): string {
  const { tenant } = question
  if (tenant !== null)
    return `from resource_versions v where v.tenant_id = any(array[$${values.push(tenant)}]::text[]) and v.resource_id > $2::uuid
      and v.valid_from <= $3::timestamptz and coalesce(v.valid_to, 'infinity') > $3::timestamptz order by v.tenant_id, v.resource_id`
  const kind = kindOf(question)
  // A resource is of one kind for ever.
  const ofKind = kind === undefined ? '' : `r.kind = any(array[$${values.push(kind)}]::text[]) and `
  return `from cloud_resources r where ${ofKind}r.id > $2::uuid order by ${ORDER(question)}`
}

/** The id that a walk over so many rows ends with; null if it comes to the end of its index before: then it has seen all there is. */
async function endOfWalk(executor: Executor, question: Question, most: number): Promise<string | null> {
  const values: unknown[] = [most - 1, question.after, question.at]
  const id = question.tenant === null ? 'r.id' : 'v.resource_id as id'
  const text = `select ${id}, $3::timestamptz ${alongIndex(question, values)} offset $1 limit 1`
  const rows = await runStatement<{ id: string }>(executor, { name: 'inventory_then_end', text }, values)
  return rows[0]?.id ?? null
}

/**
 * Of a time when most of today's resources were yet to come: all that was known of by then and comes after, if it is not much to look
 * up one by one; undefined if it is.
 */
async function listRest(executor: Executor, question: Question): Promise<ResourceJson[] | undefined> {
  const { tenant, limit, after, at, bounds } = question
  const known = `select id from cloud_resources where first_seen_at <= $1::timestamptz and id > $2::uuid
    order by first_seen_at, id limit $3`
  const ids = await transaction(executor, async tx => {
    // Sorted by the index on first_seen_at: every other way passes all that came later.
    await runStatement(tx, { name: '', text: 'set local enable_sort = off' }, [])
    return runStatement<{ id: string }>(tx, { name: '', text: known }, [at, after, bounds.rest + 1])
  })
  if (ids.length > bounds.rest) return undefined
  const values: unknown[] = [limit, ids.map(({ id }) => id), at]
  const where = conditions(question, values)
  if (tenant !== null) where.push(`v.tenant_id = $${values.push(tenant)}`)
  const text = `
    select r.id, ${json(question)} from (
      select v.* from unnest($2::uuid[]) one (id) cross join lateral (${versionAt('one.id', '$3::timestamptz')}) v
      where true ${and(where)} order by one.id limit $1) v
    cross join lateral (select * from cloud_resources r where r.id = v.resource_id offset 0) r order by r.id`
  return runStatement(executor, { name: 'inventory_then_rest', text }, values)
}

/**
 * Takes what all conditions leave, if that is not too much to sort; undefined if it is. What has ended since is found by the
 * index of ended versions, what has not by the resource as it is.
 */
async function pick(executor: Executor, question: Question): Promise<ResourceJson[] | undefined> {
  const { tenant, asked, includeDeleted, limit, after, at, bounds } = question
  const all: [FilterName, string][] = tenant === null ? asked : [...asked, ['tenant_id', tenant]]
  const facets = (letters: typeof LETTERS) =>
    all.flatMap(([name, value]) => (letters[name] ? [`${letters[name]}${value}`] : []))
  const values: unknown[] = [limit, after, at, bounds.ended + 1, bounds.few + 1]
  const others = (letters: typeof LETTERS, row: string) =>
    all.flatMap(([name, value]) =>
      letters[name] ? [] : [CONDITIONS[name](`$${values.push(value)}`).replaceAll('v.', `${row}.`)],
    )
  const where = (expression: string, keys: string[]) =>
    keys.length > 0 ? [`${expression} @> $${values.push(keys)}::text[]`] : []
  const ended = [...where(FACETS_THEN, facets(LETTERS_THEN)), ...others(LETTERS_THEN, 'v')]
  const open = [
    ...where(FACETS, [...facets(LETTERS), ...(includeDeleted ? [] : [LIVING])]),
    ...others(LETTERS, 'r'),
  ]
  if (ended.length === 0) return undefined
  // Nearly all that has ended lived: to ask the index for it costs more than it spares.
  if (!includeDeleted) ended.push('v.deleted_at is null')
  const own =
    question.ownAlone && asked.some(([name]) => name === 'deployment_id')
      ? `and ${OWN_DEPLOYMENT} is not null`
      : ''
  // Counted before the time is compared, which no index can: so no more is read than that.
  const text = `
    with ended as materialized (
      select v.resource_id, v.valid_from, v.valid_to, v.event_id from resource_versions v
      where v.valid_to is not null ${and(ended)} ${own} limit $4
    ), living as materialized (
      select r.id from cloud_resources r where ${open.join(' and ')} limit $5
    ), few as (
      select (select count(*) from ended) < $4 and (select count(*) from living) < $5 as few
    ), found as (
      select resource_id, valid_from, event_id from ended where valid_from <= $3::timestamptz and valid_to > $3::timestamptz
      union all
      select v.resource_id, v.valid_from, v.event_id from living r
      join resource_versions v on v.resource_id = r.id and v.valid_to is null and v.valid_from <= $3::timestamptz where true ${own}
    ), page as (
      select * from found where resource_id > $2::uuid and (select few from few) order by resource_id limit $1)
    select few.few, p.resource_id as id, shown.json from few left join page p on true
    left join lateral (select ${json(question)} from resource_versions v join cloud_resources r on r.id = v.resource_id
      where v.resource_id = p.resource_id and v.valid_from = p.valid_from and v.event_id = p.event_id) shown on true
    order by p.resource_id`
  const rows = await transaction(executor, async tx => {
    // It must be the index: the planner takes values that are common each by itself for common together.
    await runStatement(tx, { name: '', text: 'set local enable_seqscan = off' }, [])
    return runStatement<ResourceJson & { few: boolean }>(tx, { name: '', text }, values)
  })
  return rows[0]!.few ? rows.filter(row => row.id !== null) : undefined
}
