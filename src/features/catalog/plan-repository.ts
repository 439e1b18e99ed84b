// SQL of the plans. Lists are JSON made by the database, each plan with its active version in one statement.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { PlanRow } from './tables.ts'
import { ITEMS_JSON } from './version-repository.ts'

const PLANS = auditedTable('plans', { key: ['id'], silent: ['last_version'] })

export interface PlanJson {
  code: string
  /** The plan as the API writes it. */
  json: string
}

const SELECT_PLAN = `
  select p.code, json_build_object('id', p.id, 'code', p.code, 'name', p.name, 'active_version',
    case when v.id is not null then json_build_object('id', v.id, 'version', v.version,
      'base_price_cents', v.base_price_cents, 'currency', v.currency, 'status', v.status,
      'published_at', iso8601(v.published_at), 'items', ${ITEMS_JSON}) end)::text as json
  from plans p left join plan_versions v on v.plan_id = p.id and v.status = 'active'`

export function listPlans(executor: Executor, limit: number, after: string | null): Promise<PlanJson[]> {
  const text = `${SELECT_PLAN} where p.code > $1 order by p.code limit $2`
  return runStatement<PlanJson>(executor, { name: 'catalog_plans', text }, [after ?? '', limit])
}

export async function findPlan(executor: Executor, code: string): Promise<PlanJson | undefined> {
  const text = `${SELECT_PLAN} where p.code = $1`
  return (await runStatement<PlanJson>(executor, { name: 'catalog_plan', text }, [code]))[0]
}

export async function insertPlan(executor: Executor, plan: PlanRow): Promise<void> {
  await PLANS.insert(executor, [plan])
}

export async function renamePlanRow(executor: Executor, code: string, name: string): Promise<boolean> {
  return (await PLANS.update(executor, { code }, { name })).length > 0
}

export function findPlanRow(executor: Executor, code: string): Promise<PlanRow | undefined> {
  return executor.selectFrom('plans').selectAll().where('code', '=', code).executeTakeFirst()
}

/** Writers of a plan's versions take turns; foreign keys to the plan need not wait. */
export function lockPlan(tx: Executor, code: string): Promise<PlanRow | undefined> {
  return tx.selectFrom('plans').selectAll().where('code', '=', code).forNoKeyUpdate().executeTakeFirst()
}

/** Keeps a publish out until the transaction ends; several may hold it at once. */
export function holdPlan(tx: Executor, code: string): Promise<PlanRow | undefined> {
  return tx.selectFrom('plans').selectAll().where('code', '=', code).forShare().executeTakeFirst()
}

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

export async function catalogIsEmpty(executor: Executor): Promise<boolean> {
  const { rows } = await sql<{ empty: boolean }>`
    select not exists (select 1 from plans) and not exists (select 1 from addons)
      and not exists (select 1 from resource_prices) as empty`.execute(executor)
  return rows[0]!.empty
}
