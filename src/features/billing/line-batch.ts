// Lines into the database, a batch in a statement, matched on their way in: a line that is written once costs half of one
// that is written and then updated.
import { type RawBuilder, sql } from 'kysely'
import { resourceThenJoin } from '../inventory/index.ts'
import type { InvoiceLine } from './cost-line.ts'
import type { InvoiceRow } from './invoice.ts'

/** As it stands in an array; the text of that name is quoted there. */
const NULL = 'NULL'

const plain = (value: string | null): string => value ?? NULL

function quoted(value: string | null): string {
  if (value === null) return NULL
  const escaped = value.includes('"') || value.includes('\\') ? value.replace(/["\\]/g, '\\$&') : value
  return `"${escaped}"`
}

/** What differs from line to line: the type the database reads each column as, and its text in an array. */
const COLUMNS: Record<
  keyof InvoiceLine | 'id',
  [type: string, text: (line: InvoiceLine, id: string) => string]
> = {
  id: ['uuid', (_, id) => id],
  line_number: ['int', line => String(line.line_number)],
  product: ['text', line => quoted(line.product)],
  group_description: ['text', line => quoted(line.group_description)],
  description: ['text', line => quoted(line.description)],
  kind: ['text', line => quoted(line.kind)],
  name: ['text', line => quoted(line.name)],
  hours: ['numeric', line => plain(line.hours)],
  start_at: ['timestamptz', line => plain(line.start_at)],
  end_at: ['timestamptz', line => plain(line.end_at)],
  amount: ['numeric', line => line.amount],
  amount_minor: ['bigint', line => String(line.amount_minor)],
  project_name: ['text', line => quoted(line.project_name)],
  category: ['text', line => quoted(line.category)],
  is_tax: ['boolean', line => String(line.is_tax)],
  tax_flagged: ['boolean', line => String(line.tax_flagged)],
  extra: ['jsonb', line => quoted(line.extra && JSON.stringify(line.extra))],
}
const NAMES = Object.keys(COLUMNS)
const TYPES = Object.values(COLUMNS).map(([type]) => type)
const TEXTS = Object.values(COLUMNS).map(([, text]) => text)

/**
 * A column of the batch, written as an array here, for the driver would look at each value to see what it is. It forgets
 * its text when it is sent: the driver keeps what it was given until long after (measured: 280 MB with a million lines).
 */
class Column {
  #values: string[] = []
  #varies = false
  #text = ''

  get length(): number {
    return this.#values.length
  }

  /** Whether lines differ in it. Most of an invoice is of one product and over the whole month. */
  get varies(): boolean {
    return this.#varies
  }

  push(value: string): void {
    if (!this.#varies && this.#values.length > 0 && value !== this.#values[0]) this.#varies = true
    this.#values.push(value)
  }

  /** Before it is sent, while the database is still busy with the batch before. What all lines share is written once. */
  write(): void {
    this.#text = `{${this.#varies ? this.#values.join(',') : this.#values[0]}}`
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
  #columns = TYPES.map(() => new Column())

  get size(): number {
    return this.#columns[0]!.length
  }

  add(id: string, line: InvoiceLine): void {
    for (let at = 0; at < TEXTS.length; at++) this.#columns[at]!.push(TEXTS[at]!(line, id))
  }

  /** The statement that writes the lines, which the batch then forgets. */
  take({ id, period }: Pick<InvoiceRow, 'id' | 'period'>, currency: string): RawBuilder<unknown> {
    const columns = this.#columns.map((column, at) => {
      column.write()
      const [name, type] = [sql.raw(NAMES[at]!), sql.raw(`${TYPES[at]}[]`)]
      return { name, array: sql`${column}::${type}`, apart: column.varies || NAMES[at] === 'id' }
    })
    this.#columns = TYPES.map(() => new Column())
    const apart = columns.filter(column => column.apart)
    const shown = columns.map(({ apart, name, array }) => (apart ? name : sql`(${array})[1] as ${name}`))
    return sql`
    insert into cloud_cost_lines (${sql.raw(NAMES.join(', '))}, invoice_id, period, currency, resource_id, deployment_id,
      tenant_id, matched_by)
    select ${sql.raw(NAMES.map(name => `l.${name}`).join(', '))}, ${id}, ${period}, ${currency}, m.resource_id,
      m.deployment_id, m.tenant_id, case when m.resource_id is not null then 'auto' end
    from (
      select *, coalesce(start_at, ${period}::date) as from_at,
        coalesce(end_at, ${period}::date + interval '1 month') as until_at
      from (
        select ${sql.join(shown)}
        from unnest(${sql.join(apart.map(({ array }) => array))}) as apart (${sql.join(apart.map(({ name }) => name))})
      ) given
    ) l ${resourceThenJoin}`
  }
}
