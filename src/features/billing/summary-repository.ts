// SQL of the summary: one pass over the month's lines.

import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { SummaryRow } from './summary.ts'

/** Largest amounts first; in each list, what belongs to nobody is a row of its own. */
export function sumLines(executor: Executor, period: string): Promise<SummaryRow[]> {
  const text = `
    select currency, case
        when grouping(kind) = 0 then 'kind'
        when grouping(tenant_id) = 0 then 'tenant'
        when grouping(deployment_id) = 0 then 'deployment'
        when grouping(project_name) = 0 then 'project'
        when grouping(matched) = 0 then 'unmatched'
        else 'all'
      end as part,
      coalesce(kind, tenant_id, deployment_id::text, project_name) as name,
      count(*)::int as lines, sum(amount)::text as amount, sum(amount_minor)::bigint as amount_minor,
      coalesce(sum(amount_minor) filter (where not is_tax), 0)::bigint as net_minor,
      coalesce(sum(amount_minor) filter (where is_tax), 0)::bigint as tax_minor
    from cloud_cost_lines
    where period = $1::date
    group by grouping sets (
      (currency), (currency, kind), (currency, tenant_id), (currency, deployment_id), (currency, project_name),
      (currency, matched))
    having grouping(matched) = 1 or not matched
    order by currency, sum(amount) desc, name`
  return runStatement<SummaryRow>(executor, { name: 'billing_summary', text }, [period])
}
