// Lines into the database, a batch in a statement, matched on their way in: a line that is written once costs half of one
// that is written and then updated.
import { type RawBuilder, sql } from 'kysely'
import { resourceThenJoin } from '../inventory/index.ts'
import type { InvoiceLine } from './cost-line.ts'
import type { InvoiceRow } from './invoice.ts'

type NewLine = InvoiceLine & { id: string }

/** The columns that differ from line to line, and the type the database reads each as. */
const TYPES = {
  line_number: 'int',
  id: 'uuid',
  product: 'text',
  group_description: 'text',
  description: 'text',
  kind: 'text',
  name: 'text',
  hours: 'numeric',
  start_at: 'timestamptz',
  end_at: 'timestamptz',
  amount: 'numeric',
  amount_minor: 'bigint',
  project_name: 'text',
  category: 'text',
  is_tax: 'boolean',
  tax_flagged: 'boolean',
  extra: 'jsonb',
} as const satisfies Record<keyof NewLine, string>

type Name = keyof typeof TYPES
const NAMES = Object.keys(TYPES) as Name[]

/** As it stands in an array; the text of that name is quoted there. */
const NULL = 'NULL'

/**
 * A column of the batch, written as an array here, for the driver would look at each value to see what it is. It forgets
 * its text when it is sent: the driver keeps what it was given until long after (measured: 280 MB with a million lines).
 */
class Column {
  #values: string[] = []
  #filled = false
  #text = ''

  get length(): number {
    return this.#values.length
  }

  push(value: string): void {
    this.#values.push(value)
    if (value !== NULL) this.#filled = true
  }

  /** Before it is sent, while the database is still busy with the batch before. */
  write(): void {
    // Lists that are shorter than others are filled up with nulls by the database.
    this.#text = this.#filled ? `{${this.#values.join(',')}}` : '{}'
    this.#values = []
  }

  toPostgres(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}

/** Lines by column. */
export class LineBatch {
  #columns = emptyColumns()

  get size(): number {
    return this.#columns.id.length
  }

  add(id: string, line: InvoiceLine): void {
    const to = this.#columns
    to.id.push(id)
    to.line_number.push(String(line.line_number))
    to.product.push(quoted(line.product))
    to.group_description.push(quoted(line.group_description))
    to.description.push(quoted(line.description))
    to.kind.push(quoted(line.kind))
    to.name.push(quoted(line.name))
    to.hours.push(plain(line.hours))
    to.start_at.push(plain(line.start_at))
    to.end_at.push(plain(line.end_at))
    to.amount.push(line.amount)
    to.amount_minor.push(String(line.amount_minor))
    to.project_name.push(quoted(line.project_name))
    to.category.push(quoted(line.category))
    to.is_tax.push(String(line.is_tax))
    to.tax_flagged.push(String(line.tax_flagged))
    to.extra.push(quoted(line.extra && JSON.stringify(line.extra)))
  }

  /** The statement that writes the lines, which the batch then forgets. */
  take({ id, period }: Pick<InvoiceRow, 'id' | 'period'>, currency: string): RawBuilder<unknown> {
    const taken = this.#columns
    this.#columns = emptyColumns()
    for (const name of NAMES) taken[name].write()
    const columns = NAMES.map(name => sql`${taken[name]}::${sql.raw(TYPES[name])}[]`)
    return sql`
    insert into cloud_cost_lines (${sql.raw(NAMES.join(', '))}, invoice_id, period, currency, resource_id, deployment_id,
      tenant_id, matched_by)
    select ${sql.raw(NAMES.map(name => `l.${name}`).join(', '))}, ${id}, ${period}, ${currency}, m.resource_id,
      m.deployment_id, m.tenant_id, case when m.resource_id is not null then 'auto' end
    from (
      select *, coalesce(start_at, ${period}::date) as from_at,
        coalesce(end_at, ${period}::date + interval '1 month') as until_at
      from unnest(${sql.join(columns)}) as l (${sql.raw(NAMES.join(', '))})
    ) l ${resourceThenJoin}`
  }
}

const emptyColumns = () => Object.fromEntries(NAMES.map(name => [name, new Column()])) as Record<Name, Column>

const plain = (value: string | null): string => value ?? NULL

function quoted(value: string | null): string {
  if (value === null) return NULL
  const escaped = value.includes('"') || value.includes('\\') ? value.replace(/["\\]/g, '\\$&') : value
  return `"${escaped}"`
}
