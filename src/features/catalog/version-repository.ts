// SQL of the plan versions and their items.
import { type RawBuilder, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { PlanVersionRow } from './tables.ts'
import type { PlanItem, VersionTerms } from './version-terms.ts'

const VERSIONS = auditedTable('plan_versions', { key: ['id'] })
const ITEMS = auditedTable('plan_items', { key: ['plan_version_id', 'resource_kind'] })

/** A version with its items and the plan it belongs to. */
export type PlanVersion = PlanVersionRow & VersionTerms & { plan_code: string; plan_name: string }

/** The items of the version `v`, as JSON. */
export const ITEMS_JSON = `(
  select coalesce(json_agg(json_build_object('resource_kind', i.resource_kind, 'included_qty', i.included_qty,
    'overage_unit', i.overage_unit, 'overage_price_cents', i.overage_price_cents, 'hard_cap_qty', i.hard_cap_qty)
    order by i.resource_kind), '[]')
  from plan_items i where i.plan_version_id = v.id)`

async function selectVersions(executor: Executor, rest: RawBuilder<unknown>): Promise<PlanVersion[]> {
  const { rows } = await sql<PlanVersion>`
    select v.id, v.plan_id, v.version, v.base_price_cents, v.currency, v.status, v.created_at, v.published_at,
      v.retired_at, p.code as plan_code, p.name as plan_name, ${sql.raw(ITEMS_JSON)} as items
    from plan_versions v join plans p on p.id = v.plan_id ${rest}`.execute(executor)
  return rows
}

export async function findVersion(executor: Executor, id: string): Promise<PlanVersion | undefined> {
  return (await selectVersions(executor, sql`where v.id = ${id}`))[0]
}

export async function findVersionNumbered(
  executor: Executor,
  planCode: string,
  version: number,
): Promise<PlanVersion | undefined> {
  return (await selectVersions(executor, sql`where p.code = ${planCode} and v.version = ${version}`))[0]
}

export async function findActive(executor: Executor, planId: string): Promise<PlanVersion | undefined> {
  return (await selectVersions(executor, sql`where v.plan_id = ${planId} and v.status = 'active'`))[0]
}

/** Newest first. */
export function listVersions(
  executor: Executor,
  planId: string,
  limit: number,
  before: number | null,
): Promise<PlanVersion[]> {
  const older = before === null ? sql`` : sql`and v.version < ${before}`
  return selectVersions(
    executor,
    sql`where v.plan_id = ${planId} ${older} order by v.version desc limit ${limit}`,
  )
}

export async function insertDraft(
  tx: Executor,
  id: string,
  planId: string,
  version: number,
  { base_price_cents, currency, items }: VersionTerms,
  at: string,
): Promise<void> {
  const terms = { base_price_cents, currency }
  const life = { status: 'draft' as const, created_at: at, published_at: null, retired_at: null }
  await VERSIONS.insert(tx, [{ id, plan_id: planId, version, ...terms, ...life }])
  await insertItems(tx, id, items)
}

export async function rewriteDraft(tx: Executor, id: string, terms: VersionTerms): Promise<boolean> {
  const { base_price_cents, currency, items } = terms
  const changed = await VERSIONS.update(tx, { id, status: 'draft' }, { base_price_cents, currency })
  if (changed.length === 0) return false
  await ITEMS.delete(tx, { plan_version_id: id })
  await insertItems(tx, id, items)
  return true
}

async function insertItems(tx: Executor, versionId: string, items: PlanItem[]): Promise<void> {
  await ITEMS.insert(
    tx,
    items.map(item => ({ plan_version_id: versionId, ...item })),
  )
}

export async function deleteDraftRow(tx: Executor, id: string): Promise<boolean> {
  await ITEMS.delete(tx, query =>
    query
      .where('plan_version_id', '=', id)
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('plan_versions').select('id').where('id', '=', id).where('status', '=', 'draft')),
      ),
  )
  return (await VERSIONS.delete(tx, { id, status: 'draft' })).length > 0
}

export async function retireActive(tx: Executor, planId: string, at: string): Promise<void> {
  await VERSIONS.update(tx, { plan_id: planId, status: 'active' }, { status: 'retired', retired_at: at })
}

export async function activate(tx: Executor, id: string, at: string): Promise<boolean> {
  const active = await VERSIONS.update(tx, { id, status: 'draft' }, { status: 'active', published_at: at })
  return active.length > 0
}
