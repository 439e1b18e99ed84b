// SQL of the summary: one pass over the month's lines.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { lineColumns } from './list-lines.ts'
import { SHOWN_GROUPS, type SummaryRow } from './summary.ts'

const SUMMED = [
  'currency',
  'kind',
  'tenant_id',
  'deployment_id',
  'project_name',
  'matched',
  'amount',
  'amount_minor',
  'is_tax',
] as const

/**
 * Largest amounts first; in each list, what belongs to nobody is a row of its own. There may be as many groups as there
 * are deployments: those behind the first hundred come as one row.
 */
export function sumLines(executor: Executor, scope: Scope, period: string): Promise<SummaryRow[]> {
  const tenant = scope.allTenants ? null : scope.tenantId
  const text = `
    with sums as (
      select currency, case
          when grouping(kind) = 0 then 'kind'
          when grouping(tenant_id) = 0 then 'tenant'
          when grouping(deployment_id) = 0 then 'deployment'
          when grouping(project_name) = 0 then 'project'
          when grouping(matched) = 0 then 'unmatched'
          else 'all'
        end as part,
        coalesce(kind, tenant_id, deployment_id::text, project_name) as name,
        count(*) as lines, sum(amount) as amount, sum(amount_minor) as amount_minor,
        coalesce(sum(amount_minor) filter (where is_tax), 0) as tax_minor
      from (
        select ${lineColumns(scope, SUMMED)} from cloud_cost_lines
        where period = $1::date ${tenant === null ? '' : 'and tenant_id = $2'}
      ) lines
      group by grouping sets (
        (currency), (currency, kind), (currency, tenant_id), (currency, deployment_id), (currency, project_name),
        (currency, matched))
      having grouping(matched) = 1 or not matched
    ), placed as (
      select *, least(row_number() over (partition by currency, part order by amount desc, name), ${SHOWN_GROUPS + 1}) as place
      from sums
    )
    select currency, part, min(name) as name, place::int as place, count(*)::int as groups, sum(lines)::int as lines,
      sum(amount)::text as amount, sum(amount_minor)::bigint as amount_minor,
      sum(amount_minor - tax_minor)::bigint as net_minor, sum(tax_minor)::bigint as tax_minor
    from placed
    group by currency, part, place
    order by currency, part, place`
  return runStatement<SummaryRow>(
    executor,
    { name: tenant === null ? 'billing_summary' : 'billing_summary_of_tenant', text },
    tenant === null ? [period] : [period, tenant],
  )
}
