// SQL of what the provider takes: by its invoice's lines where a month has them. Before that the account's month-to-date usage,
// and for a tenant or a deployment an estimate: what lived, at what an hour of its kind cost in the last invoice.
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

const USED = {
  name: 'budgets_month_to_date',
  text: `select currency, round(month_to_date_usage * 100)::text as minor, generated_at from cloud_balance_snapshots
    where generated_at >= $1::timestamptz and generated_at < $2::timestamptz
      and recorded_at >= $1::timestamptz and recorded_at < $2::timestamptz + interval '1 day'
    order by recorded_at desc, id desc limit 1`,
}

/** The last that the provider said of the month. It bills in a currency of cents. */
export async function monthToDate(
  executor: Executor,
  { start_at, end_at }: Month,
): Promise<(CostAmount & { generated_at: string }) | undefined> {
  const rows = await runStatement<CostAmount & { generated_at: string }>(executor, USED, [start_at, end_at])
  return rows[0]
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

/** What an hour of each kind cost in the last invoice before the day `$1`, in minor units. */
export const HOUR_PRICES = `
  select kind, currency, sum(amount_minor)::numeric / sum(hours) as per_hour from cloud_cost_lines
  where period = (select max(period) from cloud_invoices where period < $1::date and ingested_at is not null)
    and hours > 0 and not is_tax
  group by kind, currency`

const ESTIMATED = {
  name: 'budgets_estimated',
  text: `with price as (${HOUR_PRICES}), lived as (
      select owner, kind, sum(extract(epoch from least(coalesce(valid_to, $3), $3) - greatest(valid_from, $2))) as seconds,
        count(*) filter (where valid_to is null) as living
      from (
        select deployment_id::text as owner, kind, valid_from, valid_to, deleted_at from resource_versions
        where deployment_id is not null and deployment_id = any($5::uuid[])
        union all
        select tenant_id, kind, valid_from, valid_to, deleted_at from resource_versions where tenant_id = any($6::text[])
      ) v
      where deleted_at is null and valid_from < $3::timestamptz and (valid_to is null or valid_to > $2::timestamptz)
      group by owner, kind
    )
    select owner, currency, round(sum(seconds / 3600 * per_hour))::text as minor,
      round(sum((seconds + living * extract(epoch from $4::timestamptz - $3::timestamptz)) / 3600 * per_hour))::text as forecast
    from lived join price using (kind) group by owner, currency order by owner, currency`,
}

/** So far, and if what lives now lives on to the month's end. Kinds that the last invoice had none of cost nothing here. */
export const estimatedCosts = (
  executor: Executor,
  { first_day, start_at, end_at }: Month,
  now: string,
  { tenantIds, deploymentIds }: Owners,
): Promise<(OwnedCost & { forecast: string })[]> =>
  runStatement(executor, ESTIMATED, [
    ...[first_day, start_at, now < end_at ? now : end_at, end_at],
    ...[deploymentIds, tenantIds],
  ])
