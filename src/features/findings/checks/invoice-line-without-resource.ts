// Lines of the last invoice that name a resource which nobody knows.
import { kindNames } from '../../../integrations/digitalocean/index.ts'
import { wholeMonthOf } from '../../billing/index.ts'
import { ANY_RESOURCE_THEN } from '../../inventory/index.ts'
import type { Check } from '../check.ts'

const KINDS = kindNames.map(kind => `'${kind}'`).join(', ')

/** By what a line is known again, in a new file of its invoice and in the next month's. */
const SAYS = 'l.product, l.group_description, l.description, l.project_name'

export const invoiceLineWithoutResource: Check = {
  name: 'invoice_line_without_resource',
  title: 'Invoice line without a resource',
  description:
    'The last invoice charges for something of a kind that is mirrored, but no resource of that name was there in its time. It may have been made and destroyed between two sweeps, or be in an account that is not mirrored: ask the provider, or assign the line to whom it is for.',
  category: 'billing',
  severity: 'medium',
  forTenants: false,
  cost: 'own',
  query: `
    select null::uuid as resource_id, l.subject, null::text as tenant_id, null::uuid as deployment_id, l.from_at as since,
      jsonb_build_object('invoice_id', l.invoice_id, 'period', to_char(l.period, 'YYYY-MM'), 'line_number', l.line_number,
        'product', l.product, 'description', left(l.description, 300), 'kind', l.kind, 'name', left(l.name, 300),
        'amount', l.amount::text, 'hours', l.hours::text, 'ended_at', iso8601(l.end_at)) as evidence,
      ${wholeMonthOf()} as monthly_cost, l.currency, 'invoice' as cost_source
    from (
      select l.*, coalesce(l.start_at, l.period) as from_at, coalesce(l.end_at, l.period + interval '1 month') as until_at,
        encode(sha256(convert_to(jsonb_build_array(${SAYS})::text, 'UTF8')), 'hex') || ':' ||
          row_number() over (partition by ${SAYS} order by l.start_at, l.invoice_id, l.line_number) as subject
      from cloud_cost_lines l
      where not l.matched and l.period = (select max(i.period) from cloud_invoices i where i.lines_hash is not null)
        and l.kind in (${KINDS}) and l.name is not null and not l.is_tax and l.amount > 0
    ) l
    where not ${ANY_RESOURCE_THEN}`,
}
