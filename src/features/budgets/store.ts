// All SQL of budgets, of what the last look at them saw and of the thresholds that were reached.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import type { Month } from '../../kernel/time.ts'
import { publishEvents } from '../webhooks/index.ts'
import { BudgetAlert, type BudgetRow, budgetJson, lookJoin, type Measure, type Threshold } from './budget.ts'

/** `revision` says only what the amounts before and after say too. */
const BUDGETS = auditedTable('budgets', { key: ['id'], silent: ['updated_at', 'revision'] })

/** The tenant that a statement is kept to; null: none. */
const tenantOf = (scope: Scope): string | null => (scope.allTenants ? null : scope.tenantId)

export interface NewBudget extends Omit<BudgetRow, 'revision'> {}

export async function insertBudget(executor: Executor, { thresholds, ...row }: NewBudget): Promise<void> {
  await BUDGETS.insert(executor, [{ ...row, thresholds: JSON.stringify(thresholds) }])
}

/** How many the tenant has. Until the transaction ends nobody else counts, so that no two take the last place. */
export async function countBudgets(tx: Executor, tenantId: string): Promise<number> {
  await runStatement(tx, { name: 'budgets_lock', text: LOCK }, [`budgets of ${tenantId}`])
  const { count } = await tx
    .selectFrom('budgets')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow()
  return Number(count)
}
const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

/** Nobody else changes it until the transaction ends. */
export async function lockBudget(tx: Executor, scope: Scope, id: string): Promise<BudgetRow | undefined> {
  const tenant = tenantOf(scope)
  return tx
    .selectFrom('budgets')
    .selectAll()
    .where('id', '=', id)
    .$if(tenant !== null, q => q.where('tenant_id', '=', tenant))
    .forUpdate()
    .executeTakeFirst()
}

export interface BudgetChanges {
  name?: string
  amount_minor?: number
  currency?: string
  thresholds?: Threshold[]
}

/** Of one that is locked. */
export async function updateBudget(
  tx: Executor,
  id: string,
  { thresholds, ...changes }: BudgetChanges & { revision?: number },
  at: string,
): Promise<void> {
  await BUDGETS.update(
    tx,
    { id },
    { ...changes, ...(thresholds && { thresholds: JSON.stringify(thresholds) }), updated_at: at },
  )
}

/** With its alerts. False when there is none in the scope. */
export async function deleteBudget(executor: Executor, scope: Scope, id: string): Promise<boolean> {
  const tenant = tenantOf(scope)
  const gone = await BUDGETS.delete(executor, query =>
    tenant === null ? query.where('id', '=', id) : query.where('id', '=', id).where('tenant_id', '=', tenant),
  )
  return gone.length > 0
}

export interface BudgetFilter {
  tenant_id?: string
  deployment_id?: string
  measure?: Measure
}

/** As JSON text, with how they stand in a month, newest first. */
export const listBudgets = (
  executor: Executor,
  scope: Scope,
  month: Month,
  { tenant_id, deployment_id, measure }: BudgetFilter,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: `budgets_${month.period}`,
    select: `select b.id, ${budgetJson(month)}::text as json from budgets b ${lookJoin(month)}`,
    filters: {
      scope: ['b.tenant_id = ?', tenantOf(scope)],
      tenant_id: ['b.tenant_id = ?', tenant_id],
      deployment_id: ['b.deployment_id = ?', deployment_id],
      measure: ['b.measure = ?', measure],
    },
    orderBy: ['b.id'],
    descending: true,
    after,
    limit,
  })

export async function showBudget(
  executor: Executor,
  scope: Scope,
  month: Month,
  id: string,
): Promise<string | undefined> {
  const text = `select ${budgetJson(month)}::text as json from budgets b ${lookJoin(month)}
    where b.id = $1::uuid and ($2::text is null or b.tenant_id = $2)`
  const name = `budget_${month.period}`
  const rows = await runStatement<{ json: string }>(executor, { name, text }, [id, tenantOf(scope)])
  return rows[0]?.json
}

/** Newest first. */
export const listAlerts = (
  executor: Executor,
  budgetId: string,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'budget_alerts',
    select: `select a.id, ${jsonOf(BudgetAlert, 'a')}::text as json from budget_alerts a`,
    filters: { budget: ['a.budget_id = ?', budgetId] },
    orderBy: ['a.id'],
    descending: true,
    after,
    limit,
  })

export async function hasBudgets(executor: Executor, tenantId: string): Promise<boolean> {
  const text = 'select exists (select from budgets where tenant_id = $1) as found'
  const [row] = await runStatement<{ found: boolean }>(executor, { name: 'budgets_any', text }, [tenantId])
  return row!.found
}

/** Those of a tenant, or one. */
export interface Which {
  tenantId?: string
  id?: string
}

/** In the order of their ids, for whoever looks at them: those asked for, or of all tenants but those under a test clock. */
export const pageOfBudgets = (
  executor: Executor,
  { tenantId, id }: Which,
  limit: number,
  after: string | null,
): Promise<BudgetRow[]> =>
  executor
    .selectFrom('budgets')
    .selectAll()
    .$if(id !== undefined, q => q.where('id', '=', id!))
    .$if(tenantId !== undefined, q => q.where('tenant_id', '=', tenantId!))
    .$if(id === undefined && tenantId === undefined, q =>
      q.where(sql<boolean>`not exists (
        select from test_clocks c where c.tenant_id = budgets.tenant_id and c.ended_at is null)`),
    )
    .$if(after !== null, q => q.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .execute()

/** What is to be written of one look at one budget. */
export interface LookedAt {
  budget_id: string
  revision: number
  actual_minor: string
  forecast_minor: string | null
  estimated: boolean
  other_currencies: {
    currency: string
    actual_minor: string
    forecast_minor: string | null
  }[]
}

/** Those that are still as they were read; they stay so until the transaction ends. */
const HOLD = {
  name: 'budgets_hold',
  text: `select b.id from budgets b
    join unnest($1::uuid[], $2::int[]) r (id, revision) on r.id = b.id and r.revision = b.revision
    order by b.id for share of b`,
}

export async function holdBudgets(
  tx: Executor,
  budgets: readonly Pick<BudgetRow, 'id' | 'revision'>[],
): Promise<Set<string>> {
  const values = [budgets.map(({ id }) => id), budgets.map(({ revision }) => revision)]
  return new Set((await runStatement<{ id: string }>(tx, HOLD, values)).map(({ id }) => id))
}

// One that was looked at later is not overwritten by one that took longer.
const KEEP = {
  name: 'budget_looks_keep',
  text: `insert into budget_looks as k (budget_id, period, actual_minor, forecast_minor, estimated, other_currencies, looked_at)
    select r.budget_id, $2::date, r.actual_minor, r.forecast_minor, r.estimated, (
      select coalesce(jsonb_agg(to_jsonb(o) order by o.currency), '[]')
      from jsonb_to_recordset(r.other_currencies) o (currency text, actual_minor numeric, forecast_minor numeric)), $3::timestamptz
    from jsonb_to_recordset($1::jsonb) r (budget_id uuid, actual_minor numeric, forecast_minor numeric, estimated boolean,
      other_currencies jsonb)
    order by r.budget_id
    on conflict (budget_id) do update set period = excluded.period, actual_minor = excluded.actual_minor,
      forecast_minor = excluded.forecast_minor, estimated = excluded.estimated,
      other_currencies = excluded.other_currencies, looked_at = excluded.looked_at
    where k.looked_at <= excluded.looked_at`,
}

export async function keepLooks(
  tx: Executor,
  month: Month,
  at: string,
  looks: readonly LookedAt[],
): Promise<void> {
  if (looks.length > 0) await runStatement(tx, KEEP, [JSON.stringify(looks), month.first_day, at])
}

export interface NewAlert {
  id: string
  budget_id: string
  revision: number
  basis: Threshold['on']
  percent: number
  amount_minor: number
  reached_minor: string
  currency: string
}

// Of two who insert the same at once the second waits for the first, and inserts nothing.
const TELL = {
  name: 'budget_alerts_tell',
  text: `insert into budget_alerts (id, budget_id, period, revision, basis, percent, amount_minor, reached_minor, currency, reached_at)
    select r.id, r.budget_id, $2::date, r.revision, r.basis, r.percent, r.amount_minor, r.reached_minor, r.currency, $3::timestamptz
    from jsonb_to_recordset($1::jsonb) r (id uuid, budget_id uuid, revision int, basis text, percent int, amount_minor bigint,
      reached_minor numeric, currency text)
    order by r.budget_id, r.basis, r.percent
    on conflict on constraint budget_alerts_once do nothing returning id`,
}

/** Those that nobody has told are told, by their events too; how many. */
export async function tellAlerts(
  tx: Executor,
  month: Month,
  at: string,
  alerts: readonly NewAlert[],
): Promise<number> {
  if (alerts.length === 0) return 0
  const told = await runStatement<{ id: string }>(tx, TELL, [JSON.stringify(alerts), month.first_day, at])
  if (told.length === 0) return 0
  const events = {
    name: `budget_alerts_${month.period}`,
    text: `select 'budget.threshold_reached' as type, b.tenant_id, a.reached_at as occurred_at,
        json_build_object('tenant_id', b.tenant_id, 'deployment_id', b.deployment_id, 'budget', ${budgetJson(month)},
          'alert', ${jsonOf(BudgetAlert, 'a')}) as data
      from budget_alerts a join budgets b on b.id = a.budget_id ${lookJoin(month)}
      where a.id = any($1::uuid[]) order by a.id`,
  }
  await publishEvents(tx, events, [told.map(({ id }) => id)])
  return told.length
}
