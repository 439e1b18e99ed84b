// What each deployment, or each tenant, was charged in a month, what the provider's lines for it cost, and what is left.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { type BilledDeployment, listBilled } from '../deployments/index.ts'
import { type AmountLeft, byCurrency, type Money, marginOf } from './margin.ts'
import type { Month } from './period.ts'
import { readFacts } from './read-usage.ts'
import { type Cost, costsOfDeployments, costsOfTenants, listTenants, type OwnedCost } from './store.ts'
import { usageStatement } from './usage.ts'

export interface MarginRow {
  tenant_id: string
  deployment_id: string | null
  slug: string | null
  /** How many there are. */
  deployments: number
  charged: Money[]
  costs: Cost[]
  margin: AmountLeft | null
}

export interface MarginQuestion {
  time: TenantTime
  month: Month
  now: Date
  tenantId?: string
  deploymentId?: string
  limit: number
  after: string | null
}

const ALL = { allTenants: true } as const
const BATCH = 500

export async function marginsOfDeployments(db: Executor, asked: MarginQuestion): Promise<MarginRow[]> {
  const { tenantId, deploymentId, limit, after, month } = asked
  const filter = { id: deploymentId, tenantIds: tenantId === undefined ? undefined : [tenantId] }
  const deployments = await listBilled(db, ALL, filter, limit, after)
  const charges = await chargesOf(db, asked, deployments)
  const ids = deployments.map(({ id }) => id)
  const costs = ownedBy(await costsOfDeployments(db, month.first_day, ids))
  return deployments.map(({ id, tenant_id, slug }, index) => ({
    tenant_id,
    deployment_id: id,
    slug,
    deployments: 1,
    ...compared([charges[index]!], costs.get(id) ?? []),
  }))
}

/** A tenant may have any number of deployments: they are charged in batches. */
export async function marginsOfTenants(db: Executor, asked: MarginQuestion): Promise<MarginRow[]> {
  const { month, tenantId, limit, after } = asked
  const tenantIds = await listTenants(db, month.first_day, tenantId, limit, after)
  const charges = new Map(tenantIds.map((id): [string, Money[]] => [id, []]))
  for (let batch: BilledDeployment[], last: string | null = null; ; last = batch.at(-1)!.id) {
    batch = await listBilled(db, ALL, { tenantIds }, BATCH, last)
    const charged = await chargesOf(db, asked, batch)
    for (const [index, { tenant_id }] of batch.entries()) charges.get(tenant_id)!.push(charged[index]!)
    if (batch.length < BATCH) break
  }
  const costs = ownedBy(await costsOfTenants(db, month.first_day, tenantIds))
  return tenantIds.map(tenant_id => ({
    tenant_id,
    deployment_id: null,
    slug: null,
    deployments: charges.get(tenant_id)!.length,
    ...compared(charges.get(tenant_id)!, costs.get(tenant_id) ?? []),
  }))
}

async function chargesOf(
  db: Executor,
  { time, now, month }: Pick<MarginQuestion, 'time' | 'now' | 'month'>,
  deployments: readonly BilledDeployment[],
): Promise<Money[]> {
  if (deployments.length === 0) return []
  const ids = deployments.map(({ id }) => id)
  const { facts } = await readFacts(db, now, month, ids, { time, forecast: false })
  return ids.map(id => {
    const { currency, total_cents } = usageStatement(facts.get(id)!)
    return { currency, amount_minor: total_cents }
  })
}

const ownedBy = (costs: readonly OwnedCost[]): Map<string, OwnedCost[]> =>
  Map.groupBy(costs, cost => cost.owner)

const compared = (charges: readonly Money[], costs: readonly Cost[]) => {
  const charged = byCurrency(charges)
  return { charged, costs: [...costs], margin: marginOf(charged, costs) }
}
