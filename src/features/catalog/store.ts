// All SQL of the catalog: plans, their versions and items, addons, resource prices and meters.
import { type RawBuilder, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf, jsonOf } from '../../kernel/noun.ts'
import { Meter, type MeterRow } from './meter.ts'
import { Plan, type PlanRow, PlanVersion, ShownPlanVersion, type VersionTerms } from './plan.ts'
import {
  Addon,
  type AddonRow,
  type PriceKey,
  type PriceSubject,
  ResourcePrice,
  type ResourcePriceRow,
  subjectOf,
} from './price.ts'

export const PLANS = auditedTable('plans', { key: ['id'], silent: ['last_version'] })
const VERSIONS = auditedTable('plan_versions', { key: ['id'] })
const ITEMS = auditedTable('plan_items', { key: ['plan_version_id', 'resource_kind'] })
export const ADDONS = auditedTable('addons', { key: ['id'], silent: ['updated_at'] })
export const PRICES = auditedTable('resource_prices', { key: ['id'] })
export const METERS = auditedTable('meters', { key: ['code'] })

/** A row as the API writes it, with what it is sorted by. */
type Listed<Sorted> = Sorted & { json: string }

const SELECT_PLAN = `select p.code, ${jsonOf(Plan, 'p')}::text as json
  from plans p left join plan_versions v on v.plan_id = p.id and v.status = 'active'`

/** By code, each with its active version. */
export const listPlans = (
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<Listed<{ code: string }>[]> =>
  listPage(executor, { name: 'catalog_plans', select: SELECT_PLAN, orderBy: ['p.code'], after, limit })

/** As JSON text. */
export async function showPlan(executor: Executor, code: string): Promise<string | undefined> {
  const text = `${SELECT_PLAN} where p.code = $1`
  return (await runStatement<{ json: string }>(executor, { name: 'catalog_plan', text }, [code]))[0]?.json
}

const planOf = (executor: Executor, code: string) =>
  executor.selectFrom('plans').selectAll().where('code', '=', code)

export const findPlan = (executor: Executor, code: string): Promise<PlanRow | undefined> =>
  planOf(executor, code).executeTakeFirst()

/** Writers of a plan's versions take turns; foreign keys to the plan need not wait. */
export const lockPlan = (tx: Executor, code: string): Promise<PlanRow | undefined> =>
  planOf(tx, code).forNoKeyUpdate().executeTakeFirst()

/** The next number of a version, and the lock on the plan that giving it out takes. */
export function takeVersionNumber(
  tx: Executor,
  code: string,
): Promise<Pick<PlanRow, 'id' | 'last_version'> | undefined> {
  return tx
    .updateTable('plans')
    .set(eb => ({ last_version: eb('last_version', '+', 1) }))
    .where('code', '=', code)
    .returning(['id', 'last_version'])
    .executeTakeFirst()
}

const VERSION_JSON = jsonOf(PlanVersion, 'v', { plan_code: 'p.code' })
const FROM_VERSIONS = 'from plan_versions v join plans p on p.id = v.plan_id'

async function versionWhere(
  executor: Executor,
  condition: RawBuilder<unknown>,
): Promise<PlanVersion | undefined> {
  const { rows } = await sql<{ version: PlanVersion }>`
    select ${sql.raw(VERSION_JSON)} as version ${sql.raw(FROM_VERSIONS)} where ${condition}`.execute(executor)
  return rows[0]?.version
}

export const findVersion = (executor: Executor, id: string): Promise<PlanVersion | undefined> =>
  versionWhere(executor, sql`v.id = ${id}`)

export const findVersionNumbered = (
  executor: Executor,
  planCode: string,
  version: number,
): Promise<PlanVersion | undefined> =>
  versionWhere(executor, sql`p.code = ${planCode} and v.version = ${version}`)

/**
 * What a new signup gets; null when no version is active, undefined when there is no such plan. No publish of the plan
 * passes until the transaction has ended. The lock is a statement of its own: whoever waits there for a publish must read
 * the versions after it, and a statement that waited would still show them as they were before.
 */
export async function findActiveVersion(
  tx: Executor,
  planCode: string,
): Promise<{ plan: PlanRow; version: PlanVersion | null } | undefined> {
  const plan = await planOf(tx, planCode).forShare().executeTakeFirst()
  if (!plan) return undefined
  const version = await versionWhere(tx, sql`v.plan_id = ${plan.id} and v.status = 'active'`)
  return { plan, version: version ?? null }
}

/** The active versions of those plans that have one. */
export async function findActiveVersions(
  executor: Executor,
  planCodes: readonly string[],
): Promise<PlanVersion[]> {
  const { rows } = await sql<{ version: PlanVersion }>`
    select ${sql.raw(VERSION_JSON)} as version ${sql.raw(FROM_VERSIONS)}
    where p.code = any(${planCodes}::text[]) and v.status = 'active'`.execute(executor)
  return rows.map(row => row.version)
}

/** Members of a shown version that another feature brings: name → SQL that gives JSON for plan_versions `v`. */
export type VersionMembers = Record<string, string>

const shownVersion = (members: VersionMembers) =>
  `${jsonOf(ShownPlanVersion, 'v', { plan_code: 'p.code', ...members })}::text as json ${FROM_VERSIONS}`

/** As JSON text. */
export async function showVersion(
  executor: Executor,
  members: VersionMembers,
  planCode: string,
  version: number,
): Promise<string | undefined> {
  const text = `select ${shownVersion(members)} where p.code = $1 and v.version = $2`
  const statement = { name: 'catalog_version', text }
  return (await runStatement<{ json: string }>(executor, statement, [planCode, version]))[0]?.json
}

/** Newest first. */
export const listVersions = (
  executor: Executor,
  members: VersionMembers,
  planId: string,
  limit: number,
  after: Key | null,
): Promise<Listed<{ version: number }>[]> =>
  listPage(executor, {
    name: 'catalog_versions',
    select: `select v.version, ${shownVersion(members)}`,
    filters: { plan: ['v.plan_id = ?', planId] },
    orderBy: ['v.version'],
    descending: true,
    after,
    limit,
  })

export async function insertDraft(
  tx: Executor,
  draft: { id: string; plan_id: string; version: number; created_at: string },
  { items, ...terms }: VersionTerms,
): Promise<void> {
  await VERSIONS.insert(tx, [{ ...draft, ...terms, status: 'draft' }])
  await insertItems(tx, draft.id, items)
}

/** False when it is not a draft any more; so for those that follow. */
export async function rewriteDraft(
  tx: Executor,
  id: string,
  { items, ...terms }: VersionTerms,
): Promise<boolean> {
  const changed = await VERSIONS.update(tx, { id, status: 'draft' }, terms)
  if (changed.length === 0) return false
  await ITEMS.delete(tx, { plan_version_id: id })
  await insertItems(tx, id, items)
  return true
}

const insertItems = (tx: Executor, versionId: string, items: VersionTerms['items']) =>
  ITEMS.insert(
    tx,
    items.map(item => ({ plan_version_id: versionId, ...item })),
  )

export async function deleteDraftRow(tx: Executor, id: string): Promise<boolean> {
  await ITEMS.delete(tx, { plan_version_id: id })
  return (await VERSIONS.delete(tx, { id, status: 'draft' })).length > 0
}

export async function retireActive(tx: Executor, planId: string, at: string): Promise<void> {
  await VERSIONS.update(tx, { plan_id: planId, status: 'active' }, { status: 'retired', retired_at: at })
}

export async function activate(tx: Executor, id: string, at: string): Promise<boolean> {
  const active = await VERSIONS.update(tx, { id, status: 'draft' }, { status: 'active', published_at: at })
  return active.length > 0
}

/** By code. */
export const listAddons = (
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<Listed<{ code: string }>[]> =>
  listPage(executor, {
    name: 'catalog_addons',
    select: `select a.code, ${jsonOf(Addon, 'a')}::text as json from addons a`,
    orderBy: ['a.code'],
    after,
    limit,
  })

/** Those of the codes that exist, by code. */
export async function findAddons(executor: Executor, codes: readonly string[]): Promise<AddonRow[]> {
  if (codes.length === 0) return []
  return executor.selectFrom('addons').selectAll().where('code', 'in', codes).orderBy('code').execute()
}

/** By code. */
export const listMeters = (
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<Listed<{ code: string }>[]> =>
  listPage(executor, {
    name: 'catalog_meters',
    select: `select m.code, ${jsonOf(Meter, 'm')}::text as json from meters m`,
    orderBy: ['m.code'],
    after,
    limit,
  })

const FIND_METERS = {
  name: 'catalog_find_meters',
  text: `select ${columnsOf(Meter).join(', ')} from meters where $1::text[] is null or code = any($1) order by code`,
}

/** Those of the codes that exist, or all, by code. A meter stays, and so does all of it but its name. */
export const findMeters = (executor: Executor, codes: readonly string[] | null = null): Promise<MeterRow[]> =>
  runStatement(executor, FIND_METERS, [codes])

export interface PriceFilter {
  resource_kind?: string
  unit?: string
  currency?: string
  /** Only prices that hold on this day. */
  on?: string
}

const PRICE_ORDER = ['r.resource_kind', 'r.unit', 'r.currency', 'r.effective_from'] as const

export const listPrices = (
  executor: Executor,
  { resource_kind, unit, currency, on }: PriceFilter,
  limit: number,
  after: Key | null,
): Promise<Listed<PriceKey>[]> =>
  listPage(executor, {
    name: 'catalog_prices',
    select: `select ${PRICE_ORDER.join(', ')}, ${jsonOf(ResourcePrice, 'r')}::text as json from resource_prices r`,
    filters: {
      resource_kind: ['r.resource_kind = ?', resource_kind],
      unit: ['r.unit = ?', unit],
      currency: ['r.currency = ?', currency],
      on: ['r.effective_from <= ?', on],
      until: ['(r.effective_to is null or r.effective_to > ?)', on],
    },
    orderBy: PRICE_ORDER,
    after,
    limit,
  })

export const findPrice = (executor: Executor, id: string): Promise<ResourcePriceRow | undefined> =>
  executor.selectFrom('resource_prices').selectAll().where('id', '=', id).executeTakeFirst()

/** All that a kind costs in a currency, whenever and by whatever unit. */
export const listPricesOf = (
  executor: Executor,
  { resource_kind, currency }: Pick<PriceSubject, 'resource_kind' | 'currency'>,
): Promise<ResourcePriceRow[]> =>
  executor
    .selectFrom('resource_prices')
    .selectAll()
    .where('resource_kind', '=', resource_kind)
    .where('currency', '=', currency)
    .execute()

/** Prices that hold on some day from the first to the last. */
export const listPricesBetween = (
  executor: Executor,
  firstDay: string,
  lastDay: string,
): Promise<ResourcePriceRow[]> =>
  executor
    .selectFrom('resource_prices')
    .selectAll()
    .where('effective_from', '<=', lastDay)
    .where(eb => eb.or([eb('effective_to', 'is', null), eb('effective_to', '>', firstDay)]))
    .execute()

/**
 * Writers of one subject's prices take turns. The constraint would settle it without this, but of two that clash at
 * once each waits for the other until the database finds the deadlock.
 */
export async function lockSubject(tx: Executor, price: PriceSubject): Promise<void> {
  const subject = `resource_prices ${subjectOf(price)}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(tx)
}

// Any constant will do, as long as every node takes the same one.
const SEED_KEY = 4_005_004

/** One process at a time seeds the catalog; true when there is nothing in it yet. */
export async function lockEmptyCatalog(tx: Executor): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${SEED_KEY})`.execute(tx)
  const { rows } = await sql<{ empty: boolean }>`
    select not exists (select 1 from plans) and not exists (select 1 from addons)
      and not exists (select 1 from resource_prices) and not exists (select 1 from meters) as empty`.execute(
    tx,
  )
  return rows[0]!.empty
}
