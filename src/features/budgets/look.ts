// A look at budgets: what each has come to is measured for all of them together, and what is reached for the first time is told.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import { type Month, monthOf } from '../../kernel/time.ts'
import { type BudgetRow, monthsToLookAt, ownAmount, type Spending, thresholdsReached } from './budget.ts'
import { measure } from './measure.ts'
import {
  holdBudgets,
  keepLooks,
  type LookedAt,
  type NewAlert,
  pageOfBudgets,
  tellAlerts,
  type Which,
} from './store.ts'

const BATCH = 500

/** All but those of tenants under a test clock, or one alone, or a tenant's; how many thresholds were told. */
export async function lookAtBudgets(
  { db, clock, tenantTime: time }: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  which: Which = {},
): Promise<number> {
  const budgets = await everyBudget(db, which)
  const tenantId = which.tenantId ?? (which.id === undefined ? null : (budgets[0]?.tenant_id ?? null))
  const now = tenantId === null ? clock.now() : await time.of(db, tenantId)
  let told = 0
  for (const month of monthsToLookAt(now)) {
    const spent = await measure(db, { time, now }, month, budgets)
    const known = budgets.filter(({ id }) => spent.has(id))
    for (let from = 0; from < known.length && !signal.aborted; from += BATCH)
      told += await record(db, now, month, known.slice(from, from + BATCH), spent)
  }
  log.info({ budgets: budgets.length, told }, 'budgets looked at')
  return told
}

async function everyBudget(db: Executor, which: Which): Promise<BudgetRow[]> {
  const all: BudgetRow[] = []
  for (;;) {
    const page = await pageOfBudgets(db, which, BATCH, all.at(-1)?.id ?? null)
    all.push(...page)
    if (page.length < BATCH) return all
  }
}

/** A budget that was changed or deleted meanwhile is left to the next look. */
const record = (
  db: Executor,
  now: Date,
  month: Month,
  batch: readonly BudgetRow[],
  spent: ReadonlyMap<string, Spending>,
): Promise<number> =>
  transaction(db, async tx => {
    const held = await holdBudgets(tx, batch)
    const budgets = batch.filter(({ id }) => held.has(id))
    const at = now.toISOString()
    // Of the month before only its thresholds are of interest.
    if (month.period === monthOf(now).period)
      await keepLooks(
        tx,
        month,
        at,
        budgets.map(budget => lookedAt(budget, spent.get(budget.id)!)),
      )
    const reached = budgets.flatMap(budget => alertsOf(budget, spent.get(budget.id)!))
    return tellAlerts(tx, month, at, reached)
  })

function lookedAt({ id, revision, currency }: BudgetRow, spending: Spending): LookedAt {
  const { actual, forecast } = ownAmount(currency, spending)
  const others = spending.amounts.filter(amount => amount.currency !== currency)
  return {
    budget_id: id,
    revision,
    actual_minor: String(actual),
    forecast_minor: forecast === null ? null : String(forecast),
    estimated: spending.estimated,
    other_currencies: others.map(other => ({
      currency: other.currency,
      actual_minor: String(other.actual),
      forecast_minor: other.forecast === null ? null : String(other.forecast),
    })),
  }
}

/** Every threshold that is reached; those told before are known by their key. */
function alertsOf(budget: BudgetRow, spending: Spending): NewAlert[] {
  const { id, revision, amount_minor, currency } = budget
  return thresholdsReached(budget, ownAmount(currency, spending)).map(({ percent, on, reached_minor }) => ({
    id: newId(),
    budget_id: id,
    revision,
    basis: on,
    percent,
    amount_minor,
    reached_minor: String(reached_minor),
    currency,
  }))
}
