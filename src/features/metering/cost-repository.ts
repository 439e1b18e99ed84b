// SQL of what the provider charged for deployments and tenants: all of a month's lines, each currency by itself. Every line
// is in exactly one of its deployment's, its tenant's and nobody's sum, taxes and credits too, so that the sums of all add up
// to the month's invoices.
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'

export interface Cost {
  currency: string
  /** The exact sum. */
  amount: string
  /** The lines' minor units, summed: what finance is told. */
  amount_minor: bigint
  /** What of it the split calls tax. */
  tax_minor: bigint
  /** How many lines the split calls tax and their product does not: a droplet named `taxi`. */
  flagged_lines: number
}

export interface OwnedCost extends Cost {
  /** Of a deployment, or of a tenant. */
  owner: string
}

type SummedRow = Omit<OwnedCost, 'amount_minor' | 'tax_minor'> & { amount_minor: string; tax_minor: string }

const SUMS = sql`sum(l.amount)::text as amount, sum(l.amount_minor)::text as amount_minor,
  coalesce(sum(l.amount_minor) filter (where l.is_tax), 0)::text as tax_minor,
  (count(*) filter (where l.tax_flagged))::int as flagged_lines`

async function summed(executor: Executor, query: RawBuilder<SummedRow>): Promise<OwnedCost[]> {
  const { rows } = await query.execute(executor)
  return rows.map(row => ({
    ...row,
    amount_minor: BigInt(row.amount_minor),
    tax_minor: BigInt(row.tax_minor),
  }))
}

/** `period` is the first day of the month. */
export const costsOfDeployments = (executor: Executor, period: string, ids: string[]): Promise<OwnedCost[]> =>
  summed(
    executor,
    sql`
      select l.deployment_id as owner, l.currency, ${SUMS} from cloud_cost_lines l
      where l.deployment_id = any(${ids}::uuid[]) and l.period = ${period}::date
      group by l.deployment_id, l.currency order by l.currency`,
  )

/** A line of a deployment is its tenant's; only one of no deployment is the tenant's that it names. */
export const costsOfTenants = (
  executor: Executor,
  period: string,
  tenantIds: string[],
): Promise<OwnedCost[]> =>
  summed(
    executor,
    sql`
      select owner, l.currency, ${SUMS} from (
        select d.tenant_id as owner, l.currency, l.amount, l.amount_minor, l.is_tax, l.tax_flagged
        from cloud_deployments d join cloud_cost_lines l on l.deployment_id = d.id
        where d.tenant_id = any(${tenantIds}::text[]) and l.period = ${period}::date
        union all
        select l.tenant_id, l.currency, l.amount, l.amount_minor, l.is_tax, l.tax_flagged from cloud_cost_lines l
        where l.tenant_id = any(${tenantIds}::text[]) and l.deployment_id is null
          and l.period = ${period}::date
      ) l group by owner, l.currency order by l.currency`,
  )

export interface NobodysLines {
  /** Only those that name this tenant; null: that name none. Undefined: whatever they say of a tenant. */
  tenantId?: string | null
}

/** What belongs to no deployment: one pass over the month, or over the tenant's part of it. */
export function costsOfNobody(
  executor: Executor,
  period: string,
  { tenantId }: NobodysLines,
): Promise<Cost[]> {
  const whose =
    tenantId === undefined
      ? sql``
      : tenantId === null
        ? sql`and l.tenant_id is null`
        : sql`and l.tenant_id = ${tenantId}`
  return summed(
    executor,
    sql`
      select '' as owner, l.currency, ${SUMS} from cloud_cost_lines l
      where l.period = ${period}::date and l.deployment_id is null ${whose}
      group by l.currency order by l.currency`,
  )
}

/**
 * Tenants that have deployments, or lines of the month, in the order of their names. Both indexes are entered anew behind
 * each name, so that a page costs as many looks as it has names, not as many as there are rows.
 */
export async function listTenants(
  executor: Executor,
  period: string,
  tenantId: string | undefined,
  limit: number,
  after: string | null,
): Promise<string[]> {
  const isAsked = tenantId === undefined ? sql`true` : sql`tenant_id = ${tenantId}`
  const names = (table: 'cloud_deployments' | 'cloud_cost_lines') => {
    const next = (from: RawBuilder<unknown>) =>
      sql`select tenant_id from ${sql.table(table)} where tenant_id > ${from} and ${isAsked} order by tenant_id limit 1`
    return sql`(
      with recursive names (tenant_id) as (
        (${next(sql`${after ?? ''}::text`)})
        union all
        select (${next(sql`names.tenant_id`)}) from names where names.tenant_id is not null
      )
      select tenant_id from names where tenant_id is not null)`
  }
  const { rows } = await sql<{ tenant_id: string }>`
    select tenant_id from (
      (select tenant_id from ${names('cloud_deployments')} n limit ${limit})
      union
      (select tenant_id from ${names('cloud_cost_lines')} n where exists (
        select from cloud_cost_lines l where l.tenant_id = n.tenant_id and l.period = ${period}::date) limit ${limit})
    ) t order by tenant_id limit ${limit}`.execute(executor)
  return rows.map(row => row.tenant_id)
}
