// What each of many budgets has come to in a month: charges and costs are read for all of them together.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import type { Month } from '../../kernel/time.ts'
import { findNamed, listBilled } from '../deployments/index.ts'
import { chargesOf } from '../metering/index.ts'
import { type Amount, addedUp, type BudgetRow, isTooEarly, type Spending } from './budget.ts'
import {
  costsByLines,
  type EstimatedCost,
  estimatedCosts,
  invoicedCosts,
  lastEstimate,
  type OwnedCost,
} from './cost-store.ts'

export type Measured = Pick<BudgetRow, 'id' | 'tenant_id' | 'deployment_id' | 'measure'>

/** By budget; one of which nothing is known yet is not in it. */
export async function measure(
  db: Executor,
  { time, now }: { time: TenantTime; now: Date },
  month: Month,
  budgets: readonly Measured[],
): Promise<Map<string, Spending>> {
  const of = (name: Measured['measure']) => budgets.filter(budget => budget.measure === name)
  return new Map([
    ...(await charges(db, { time, now }, month, of('charge'))),
    ...(await costs(db, month, of('cost'))),
  ])
}

/** The tenants and the deployments that budgets are of, each once. */
function ownersOf(budgets: readonly Measured[]) {
  const deployments = budgets.flatMap(({ deployment_id }) => deployment_id ?? [])
  const tenants = budgets.flatMap(({ deployment_id, tenant_id }) =>
    deployment_id === null && tenant_id !== null ? tenant_id : [],
  )
  return { deploymentIds: [...new Set(deployments)], tenantIds: [...new Set(tenants)] }
}

const isOfAccount = ({ tenant_id }: Measured): boolean => tenant_id === null

const ALL = { allTenants: true } as const
const BATCH = 500

async function charges(
  db: Executor,
  { time, now }: { time: TenantTime; now: Date },
  month: Month,
  budgets: readonly Measured[],
): Promise<[string, Spending][]> {
  if (budgets.length === 0) return []
  const { deploymentIds, tenantIds } = ownersOf(budgets)
  const ofAll = budgets.some(isOfAccount)
  const ofOwner = new Map<string, Amount[]>()
  const all: Amount[] = []
  const count = async (deployments: readonly { id: string; tenant_id: string }[], own: boolean) => {
    const ids = deployments.map(({ id }) => id)
    const charged = await chargesOf(db, { time, now }, month.period, ids)
    // What a test clock makes a tenant pay is nothing that the account is paid.
    const apart = own ? null : await time.apart(db, ids)
    for (const { id, tenant_id } of deployments) {
      const { currency, total_cents, forecast_cents } = charged.get(id)!
      const amount = { currency, actual: total_cents, forecast: forecast_cents }
      if (own) ofOwner.set(id, [amount])
      else {
        ofOwner.set(tenant_id, [...(ofOwner.get(tenant_id) ?? []), amount])
        if (!apart!.has(id)) all.push(amount)
      }
    }
  }
  if (ofAll || tenantIds.length > 0)
    for (let after: string | null = null; ; ) {
      const page = await listBilled(db, ALL, ofAll ? {} : { tenantIds }, BATCH, after)
      await count(page, false)
      if (page.length < BATCH) break
      after = page.at(-1)!.id
    }
  for (let from = 0; from < deploymentIds.length; from += BATCH)
    await count(await findNamed(db, ALL, deploymentIds.slice(from, from + BATCH)), true)
  return budgets.map(budget => {
    const own = isOfAccount(budget) ? all : ofOwner.get(budget.deployment_id ?? budget.tenant_id!)
    return [budget.id, { amounts: addedUp(own ?? []), estimated: false }]
  })
}

async function costs(
  db: Executor,
  month: Month,
  budgets: readonly Measured[],
): Promise<[string, Spending][]> {
  if (budgets.length === 0) return []
  const invoiced = (await invoicedCosts(db, month)).map(({ currency, minor }) => settled(currency, minor))
  return invoiced.length > 0
    ? byInvoice(db, month, budgets, invoiced)
    : byEstimate(db, month, budgets, await lastEstimate(db, month))
}

async function byInvoice(
  db: Executor,
  month: Month,
  budgets: readonly Measured[],
  account: Amount[],
): Promise<[string, Spending][]> {
  const rows = await costsByLines(db, month, ownersOf(budgets))
  const amounts = byOwner(rows, ({ currency, minor }) => settled(currency, minor))
  return budgets.map(budget => [
    budget.id,
    { amounts: amountsOf(budget, account, amounts), estimated: false },
  ])
}

/** Nothing is known of a month that was not estimated. */
async function byEstimate(
  db: Executor,
  month: Month,
  budgets: readonly Measured[],
  estimate: Awaited<ReturnType<typeof lastEstimate>>,
): Promise<[string, Spending][]> {
  if (!estimate) return []
  const estimated = ({ currency, minor, forecast }: EstimatedCost): Amount => ({
    currency,
    actual: BigInt(minor),
    forecast: BigInt(forecast),
  })
  const amounts = byOwner(await estimatedCosts(db, month, ownersOf(budgets)), estimated)
  const whole = estimated(estimate)
  const account = [isTooEarly(month, estimate.as_of) ? { ...whole, forecast: null } : whole]
  return budgets.map(budget => [budget.id, { amounts: amountsOf(budget, account, amounts), estimated: true }])
}

const amountsOf = (budget: Measured, account: Amount[], amounts: ReadonlyMap<string, Amount[]>): Amount[] =>
  isOfAccount(budget) ? account : (amounts.get(budget.deployment_id ?? budget.tenant_id!) ?? [])

/** An invoice is final. */
const settled = (currency: string, minor: string): Amount => ({
  currency,
  actual: BigInt(minor),
  forecast: BigInt(minor),
})

const byOwner = <C extends OwnedCost>(
  rows: readonly C[],
  amountOf: (row: C) => Amount,
): Map<string, Amount[]> =>
  new Map([...Map.groupBy(rows, ({ owner }) => owner)].map(([owner, own]) => [owner, own.map(amountOf)]))
