// SQL of lines as they are listed: for an operator all of them, for a tenant its own, without what is the operator's. The
// database makes the JSON.
import { sql } from 'kysely'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { CostLineRow } from './tables.ts'

export interface LineFilter {
  /** The first day of a month. */
  period?: string
  kind?: string
  invoice_id?: string
  resource_id?: string
  deployment_id?: string
  tenant_id?: string
  matched?: boolean
}

export interface LineJson {
  id: string
  period: string
  /** The line as the API writes it. */
  json: string
}

/** A resource may still be tied to a deployment of the tenant that had it before. */
const OWN_DEPLOYMENT = `exists (
  select from cloud_deployments d where d.id = deployment_id and d.tenant_id = cloud_cost_lines.tenant_id)`

/**
 * What a tenant reads instead of a column. A project may have been another's in the course of the month, and nobody knows
 * what an unknown column holds.
 */
const FOR_TENANTS: Partial<Record<keyof CostLineRow, string>> = {
  deployment_id: `case when ${OWN_DEPLOYMENT} then deployment_id end`,
  project_name: 'null::text',
  extra: 'null::jsonb',
}
const shownAs = ({ allTenants }: Scope, column: keyof CostLineRow): string =>
  (!allTenants && FOR_TENANTS[column]) || column

/** Columns of cloud_cost_lines as they are for the reader. */
export const lineColumns = (scope: Scope, columns: readonly (keyof CostLineRow)[]): string =>
  columns.map(column => `${shownAs(scope, column)} as ${column}`).join(', ')

const lineJson = (scope: Scope) => `json_build_object(
  'id', id, 'invoice_id', invoice_id, 'period', period, 'line_number', line_number, 'product', product,
  'group_description', group_description, 'description', description, 'kind', kind, 'resource_id', resource_id,
  'deployment_id', ${shownAs(scope, 'deployment_id')}, 'tenant_id', tenant_id, 'matched_by', matched_by, 'hours', hours::text,
  'start_at', iso8601(start_at), 'end_at', iso8601(end_at), 'amount', amount::text, 'amount_minor', amount_minor,
  'currency', currency, 'project_name', ${shownAs(scope, 'project_name')},
  'category', category, 'is_tax', is_tax, 'tax_flagged', tax_flagged,
  'extra', coalesce(${shownAs(scope, 'extra')}, '{}'))::text`

/** Where a page ended. */
export interface Place {
  period: string
  id: string
}

/** Each has an index on (column, period, id); the one that leaves fewest rows first. */
const LEADING = ['resource_id', 'deployment_id', 'invoice_id', 'tenant_id', 'matched', 'kind'] as const
const TYPES: Record<keyof LineFilter, string> = {
  period: 'date',
  kind: 'text',
  invoice_id: 'uuid',
  resource_id: 'uuid',
  deployment_id: 'uuid',
  tenant_id: 'text',
  matched: 'boolean',
}

/** Sorts before every line there is. */
export const BEFORE_ALL: Place = { period: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

/** A page in the order of months, and within a month as the lines came. */
export const listLines = (
  executor: Executor,
  scope: Scope,
  filter: LineFilter,
  limit: number,
  after: Place | null,
): Promise<LineJson[]> =>
  readPage(executor, scope, `id, period, ${lineJson(scope)} as json`, 'cost_lines', filter, limit, after)

/** The same, as rows of these columns. */
export const listLineRows = <Column extends keyof CostLineRow>(
  executor: Executor,
  scope: Scope,
  columns: readonly Column[],
  filter: LineFilter,
  limit: number,
  after: Place | null,
): Promise<Pick<CostLineRow, Column>[]> =>
  readPage(executor, scope, lineColumns(scope, columns), 'cost_line_rows', filter, limit, after)

async function readPage<Row>(
  executor: Executor,
  scope: Scope,
  columns: string,
  statement: string,
  asking: LineFilter,
  limit: number,
  after: Place | null,
): Promise<Row[]> {
  const tenant = scope.allTenants ? null : scope.tenantId
  const filter = tenant === null ? asking : { ...asking, tenant_id: tenant }
  const asked = (Object.keys(TYPES) as (keyof LineFilter)[]).filter(name => filter[name] !== undefined)
  // Of an invoice a tenant has a few lines among a million: those of its own in the invoice's month are looked through.
  const ofInvoice = tenant !== null && filter.invoice_id !== undefined
  const leading = LEADING.find(name => asked.includes(name) && !(ofInvoice && name === 'invoice_id'))
  const { period: month } = filter
  const from = after ?? BEFORE_ALL
  const values: unknown[] = [limit]
  const where: string[] = []
  if (month === undefined) {
    values.push(from.period, from.id)
    where.push('(period, id) > ($2::date, $3::uuid)')
  } else {
    // Not as a pair beside `period = …`: the index would then be entered where the month begins, and not where the page does.
    if (from.period > month) return []
    values.push(from.period === month ? from.id : BEFORE_ALL.id)
    where.push('id > $2::uuid')
  }
  for (const name of asked) {
    values.push(filter[name])
    const value = `$${values.length}::${TYPES[name]}`
    // The page is read along the leading column's index. Written as `column = …` the planner would know that the order
    // by period and id is the same, and might walk past a million other lines; `any` hides it.
    where.push(name === leading ? `${name} = any(array[${value}])` : `${name} = ${value}`)
    // Those indexes leave out what is nobody's.
    if (name === leading && PARTIAL.has(name)) where.push(`${name} is not null`)
    if (tenant !== null && name === 'deployment_id') where.push(OWN_DEPLOYMENT)
    if (ofInvoice && name === 'invoice_id')
      where.push(`period = (select i.period from cloud_invoices i where i.id = ${value})`)
  }
  const text = `select ${columns} from cloud_cost_lines
    where ${where.join(' and ')} order by ${leading ? `${leading}, ` : ''}period, id limit $1`
  const name = `${statement}${tenant === null ? '' : '_of_tenant'}:${asked.map(part => part.slice(0, 3)).join('')}`
  return runStatement<Row>(executor, { name, text }, values)
}

const PARTIAL: ReadonlySet<string> = new Set(['resource_id', 'deployment_id', 'tenant_id'])

/** The line as the API writes it. */
export async function findLineJson(executor: Executor, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${sql.raw(lineJson({ allTenants: true }))} as json from cloud_cost_lines where id = ${id}`.execute(
    executor,
  )
  return rows[0]?.json
}
