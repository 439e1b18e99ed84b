// SQL of what the provider takes: by its invoice's lines where a month has them, before that by the month's estimate.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Month } from '../../kernel/time.ts'

const INVOICED = {
  name: 'budgets_invoiced',
  text: `select currency, sum(amount_net_minor + amount_tax_minor)::text as minor from cloud_invoices
    where period = $1::date and ingested_at is not null group by currency order by currency`,
}

export interface CostAmount {
  currency: string
  /** Whole minor units. */
  minor: string
}

/** What the month's invoices come to; none: they are not in. */
export const invoicedCosts = (executor: Executor, { first_day }: Month): Promise<CostAmount[]> =>
  runStatement(executor, INVOICED, [first_day])

const ESTIMATE = {
  name: 'budgets_estimate',
  text: `select currency, amount_minor::text as minor, month_minor::text as forecast, as_of from cost_estimates
    where period = $1::date order by day desc limit 1`,
}

export interface EstimatedCost extends CostAmount {
  /** What the month may end with. */
  forecast: string
}

/** The last that was made of the month. */
export async function lastEstimate(
  executor: Executor,
  { first_day }: Month,
): Promise<(EstimatedCost & { as_of: string }) | undefined> {
  return (await runStatement<EstimatedCost & { as_of: string }>(executor, ESTIMATE, [first_day]))[0]
}

/** Of a tenant, or of a deployment. */
export interface OwnedCost extends CostAmount {
  owner: string
}

export interface Owners {
  tenantIds: readonly string[]
  deploymentIds: readonly string[]
}

// A line of a deployment is its tenant's; only one of no deployment is the tenant's that it names.
const LINES = {
  name: 'budgets_lines',
  text: `select owner, currency, sum(amount_minor)::text as minor from (
      select l.deployment_id::text as owner, l.currency, l.amount_minor from cloud_cost_lines l
      where l.deployment_id = any($2::uuid[]) and l.period = $1::date
      union all
      select d.tenant_id, l.currency, l.amount_minor
      from cloud_deployments d join cloud_cost_lines l on l.deployment_id = d.id
      where d.tenant_id = any($3::text[]) and l.period = $1::date
      union all
      select l.tenant_id, l.currency, l.amount_minor from cloud_cost_lines l
      where l.tenant_id = any($3::text[]) and l.deployment_id is null and l.period = $1::date
    ) l group by owner, currency order by owner, currency`,
}

export const costsByLines = (
  executor: Executor,
  { first_day }: Month,
  { tenantIds, deploymentIds }: Owners,
): Promise<OwnedCost[]> => runStatement(executor, LINES, [first_day, deploymentIds, tenantIds])

const ESTIMATED = {
  name: 'budgets_estimated',
  text: `select owner, currency, sum(amount_minor)::text as minor, sum(month_minor)::text as forecast from (
      select deployment_id::text as owner, currency, amount_minor, month_minor from cost_estimate_lines
      where period = $1::date and deployment_id = any($2::uuid[])
      union all
      select tenant_id, currency, amount_minor, month_minor from cost_estimate_lines
      where period = $1::date and tenant_id = any($3::text[])
    ) l group by owner, currency order by owner, currency`,
}

/** By the lines of the month's last estimate. */
export const estimatedCosts = (
  executor: Executor,
  { first_day }: Month,
  { tenantIds, deploymentIds }: Owners,
): Promise<(OwnedCost & EstimatedCost)[]> =>
  runStatement(executor, ESTIMATED, [first_day, deploymentIds, tenantIds])
