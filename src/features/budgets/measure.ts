// What each of many budgets has come to in a month: charges and costs are read for all of them together.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import type { Month } from '../../kernel/time.ts'
import { findNamed, listBilled } from '../deployments/index.ts'
import { chargesOf } from '../metering/index.ts'
import { type Amount, addedUp, atThisPace, type BudgetRow, type Spending } from './budget.ts'
import { costsByLines, estimatedCosts, invoicedCosts, monthToDate, type OwnedCost } from './cost-store.ts'

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
    ...(await costs(db, now, month, of('cost'))),
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
  now: Date,
  month: Month,
  budgets: readonly Measured[],
): Promise<[string, Spending][]> {
  if (budgets.length === 0) return []
  const owners = ownersOf(budgets)
  const invoiced = (await invoicedCosts(db, month)).map(({ currency, minor }) => settled(currency, minor))
  const estimated = invoiced.length === 0
  const amounts: Map<string, Amount[]> = estimated
    ? byOwner(
        await estimatedCosts(db, month, now.toISOString(), owners),
        ({ currency, minor, forecast }) => ({
          currency,
          actual: BigInt(minor),
          forecast: BigInt(forecast),
        }),
      )
    : byOwner(await costsByLines(db, month, owners), ({ currency, minor }) => settled(currency, minor))
  const account = estimated ? await accountSoFar(db, month) : invoiced
  return budgets.flatMap((budget): [string, Spending][] => {
    const own = isOfAccount(budget) ? account : (amounts.get(budget.deployment_id ?? budget.tenant_id!) ?? [])
    return own === undefined ? [] : [[budget.id, { amounts: own, estimated }]]
  })
}

/** Undefined: the provider has not been asked in this month. */
async function accountSoFar(db: Executor, month: Month): Promise<Amount[] | undefined> {
  const said = await monthToDate(db, month)
  if (!said) return undefined
  const actual = BigInt(said.minor)
  return [{ currency: said.currency, actual, forecast: atThisPace(actual, month, said.generated_at) }]
}

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
