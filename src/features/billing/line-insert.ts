// Lines into the database, a batch in a statement, matched on their way in: a line that is written once costs half of one
// that is written and then updated.
import { type RawBuilder, sql } from 'kysely'
import { resourceThenJoin } from '../inventory/index.ts'
import type { InvoiceLine } from './invoice-line.ts'
import type { InvoiceRow } from './tables.ts'

export type NewLine = InvoiceLine & { id: string }

/** The statement, its values written out: what takes time is done before it is sent. */
export function linesInsert(
  { id, period }: Pick<InvoiceRow, 'id' | 'period'>,
  currency: string,
  lines: NewLine[],
): RawBuilder<unknown> {
  const column = (write: (line: NewLine) => string) => sql.val(list(lines, write))
  return sql`
    insert into cloud_cost_lines (id, invoice_id, period, line_number, product, group_description, description, kind,
      name, hours, start_at, end_at, amount, amount_minor, currency, project_name, category, is_tax, tax_flagged, extra,
      resource_id, deployment_id, tenant_id, matched_by)
    select l.id, ${id}, ${period}, l.line_number, l.product, l.group_description, l.description, l.kind, l.name, l.hours,
      l.start_at, l.end_at, l.amount, l.amount_minor, ${currency}, l.project_name, l.category, l.is_tax, l.tax_flagged,
      l.extra, m.resource_id, m.deployment_id, m.tenant_id, case when m.resource_id is not null then 'auto' end
    from (
      select *, coalesce(start_at, ${period}::date) as from_at,
        coalesce(end_at, ${period}::date + interval '1 month') as until_at
      from unnest(
        ${column(line => String(line.line_number))}::int[],
        ${column(line => line.id)}::uuid[],
        ${column(line => quoted(line.product))}::text[],
        ${column(line => quoted(line.group_description))}::text[],
        ${column(line => quoted(line.description))}::text[],
        ${column(line => quoted(line.kind))}::text[],
        ${column(line => quoted(line.name))}::text[],
        ${column(line => plain(line.hours))}::numeric[],
        ${column(line => plain(line.start_at))}::timestamptz[],
        ${column(line => plain(line.end_at))}::timestamptz[],
        ${column(line => line.amount)}::numeric[],
        ${column(line => String(line.amount_minor))}::bigint[],
        ${column(line => quoted(line.project_name))}::text[],
        ${column(line => quoted(line.category))}::text[],
        ${column(line => String(line.is_tax))}::boolean[],
        ${column(line => String(line.tax_flagged))}::boolean[],
        ${column(line => quoted(line.extra && JSON.stringify(line.extra)))}::jsonb[]
      ) as l (line_number, id, product, group_description, description, kind, name, hours, start_at, end_at, amount,
        amount_minor, project_name, category, is_tax, tax_flagged, extra)
    ) l ${resourceThenJoin}`
}

/** An array as the database writes one. The driver would do the same, but looks at each value to see what it is. */
function list(lines: NewLine[], write: (line: NewLine) => string): string {
  let text = '{'
  let separator = ''
  for (const line of lines) {
    text += separator + write(line)
    separator = ','
  }
  return `${text}}`
}

const plain = (value: string | null): string => value ?? 'NULL'

function quoted(value: string | null): string {
  if (value === null) return 'NULL'
  const escaped = value.includes('"') || value.includes('\\') ? value.replace(/["\\]/g, '\\$&') : value
  return `"${escaped}"`
}
