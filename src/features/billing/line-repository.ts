// Cost lines: reads and single writes. The database makes the JSON of lists. How lines get in is in line-insert.ts.
import { sql } from 'kysely'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { resourceThenJoin } from '../inventory/index.ts'
import type { Assignment } from './hand-assigned.ts'
import type { CostLineRow, LineAssignmentRow } from './tables.ts'

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

const LINE_JSON = `json_build_object(
  'id', id, 'invoice_id', invoice_id, 'period', period, 'line_number', line_number, 'product', product,
  'group_description', group_description, 'description', description, 'kind', kind, 'resource_id', resource_id,
  'deployment_id', deployment_id, 'tenant_id', tenant_id, 'matched_by', matched_by, 'hours', hours::text,
  'start_at', iso8601(start_at), 'end_at', iso8601(end_at), 'amount', amount::text, 'amount_minor', amount_minor,
  'currency', currency, 'project_name', project_name, 'category', category, 'is_tax', is_tax,
  'tax_flagged', tax_flagged, 'extra', coalesce(extra, '{}'))::text`

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
const BEFORE_ALL: Place = { period: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

/** A page in the order of months, and within a month as the lines came. */
export const listLines = (
  executor: Executor,
  filter: LineFilter,
  limit: number,
  after: Place | null,
): Promise<LineJson[]> =>
  readPage(executor, `id, period, ${LINE_JSON} as json`, 'cost_lines', filter, limit, after)

/** The same, as rows of these columns. */
export const listLineRows = <Column extends keyof CostLineRow>(
  executor: Executor,
  columns: readonly Column[],
  filter: LineFilter,
  limit: number,
  after: Place | null,
): Promise<Pick<CostLineRow, Column>[]> =>
  readPage(executor, columns.join(', '), 'cost_line_rows', filter, limit, after)

async function readPage<Row>(
  executor: Executor,
  columns: string,
  statement: string,
  filter: LineFilter,
  limit: number,
  after: Place | null,
): Promise<Row[]> {
  const asked = (Object.keys(TYPES) as (keyof LineFilter)[]).filter(name => filter[name] !== undefined)
  const leading = LEADING.find(name => asked.includes(name))
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
  }
  const text = `select ${columns} from cloud_cost_lines
    where ${where.join(' and ')} order by ${leading ? `${leading}, ` : ''}period, id limit $1`
  const name = `${statement}:${asked.map(part => part.slice(0, 3)).join('')}`
  return runStatement<Row>(executor, { name, text }, values)
}

const PARTIAL: ReadonlySet<string> = new Set(['resource_id', 'deployment_id', 'tenant_id'])

/** The line as the API writes it. */
export async function findLineJson(executor: Executor, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${sql.raw(LINE_JSON)} as json from cloud_cost_lines where id = ${id}`.execute(executor)
  return rows[0]?.json
}

export function findLine(executor: Executor, id: string): Promise<CostLineRow | undefined> {
  return executor.selectFrom('cloud_cost_lines').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function deleteLines(tx: Executor, invoiceId: string): Promise<void> {
  await tx.deleteFrom('cloud_cost_lines').where('invoice_id', '=', invoiceId).execute()
}

/** How many lines of the invoice down to this one say what it says. */
export async function occurrenceOf(tx: Executor, line: CostLineRow): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from cloud_cost_lines
    where invoice_id = ${line.invoice_id} and period = ${line.period} and id <= ${line.id}
      and product = ${line.product} and description = ${line.description}
      and (group_description, start_at, end_at, project_name) is not distinct from
        (${line.group_description}::text, ${line.start_at}::timestamptz, ${line.end_at}::timestamptz, ${line.project_name}::text)`.execute(
    tx,
  )
  return rows[0]!.n
}

export function listAssignments(executor: Executor, invoiceId: string): Promise<LineAssignmentRow[]> {
  return executor
    .selectFrom('cloud_line_assignments')
    .selectAll()
    .where('invoice_id', '=', invoiceId)
    .execute()
}

export async function upsertAssignment(tx: Executor, row: LineAssignmentRow): Promise<void> {
  const { resource_id, deployment_id, tenant_id, assigned_by, assigned_at } = row
  await tx
    .insertInto('cloud_line_assignments')
    .values(row)
    .onConflict(conflict =>
      conflict
        .columns(['invoice_id', 'line_key', 'occurrence'])
        .doUpdateSet({ resource_id, deployment_id, tenant_id, assigned_by, assigned_at }),
    )
    .execute()
}

export async function deleteAssignment(
  tx: Executor,
  { invoice_id, line_key, occurrence }: Pick<LineAssignmentRow, 'invoice_id' | 'line_key' | 'occurrence'>,
): Promise<void> {
  await tx
    .deleteFrom('cloud_line_assignments')
    .where('invoice_id', '=', invoice_id)
    .where('line_key', '=', line_key)
    .where('occurrence', '=', occurrence)
    .execute()
}

export type AssignedLine = Assignment & { id: string }

/** Gives lines to whom an operator said. */
export async function assignLines(tx: Executor, lines: AssignedLine[]): Promise<void> {
  if (lines.length === 0) return
  await sql`
    update cloud_cost_lines l set resource_id = a.resource_id, deployment_id = a.deployment_id, tenant_id = a.tenant_id,
      matched_by = 'hand'
    from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb)
      as a (id uuid, resource_id uuid, deployment_id uuid, tenant_id text)
    where l.id = a.id`.execute(tx)
}

/** Takes a line from whom an operator gave it to. */
export async function unassignLine(tx: Executor, id: string): Promise<void> {
  await tx
    .updateTable('cloud_cost_lines')
    .set({ resource_id: null, deployment_id: null, tenant_id: null, matched_by: null })
    .where('id', '=', id)
    .execute()
}

/** When a line ran: the whole month, where its file does not say. */
const RAN = sql`coalesce(start_at, period) as from_at, coalesce(end_at, period + interval '1 month') as until_at`

/** Matches a line anew, unless somebody has. */
export async function matchLine(tx: Executor, id: string): Promise<void> {
  await sql`
    update cloud_cost_lines c
    set resource_id = m.resource_id, deployment_id = m.deployment_id, tenant_id = m.tenant_id, matched_by = 'auto'
    from (select id, kind, name, ${RAN} from cloud_cost_lines where id = ${id} and not matched) l ${resourceThenJoin}
    where c.id = l.id and m.resource_id is not null`.execute(tx)
}

/** Matches the next unmatched lines after this one; returns the last it looked at, or undefined at the end. */
export async function matchPage(
  tx: Executor,
  { after, limit, invoiceId }: { after: Place | null; limit: number; invoiceId: string | null },
): Promise<{ last: Place | undefined; matched: number }> {
  const from = after ?? BEFORE_ALL
  // As in listLines: along the index of what leaves fewest lines.
  const [column, which] = invoiceId
    ? [sql`invoice_id`, sql`invoice_id = any(array[${invoiceId}::uuid]) and not matched`]
    : [sql`matched`, sql`matched = any(array[false])`]
  const { rows } = await sql<{ period: string | null; id: string | null; matched: number }>`
    with page as materialized (
      select id, period, kind, name, ${RAN} from cloud_cost_lines
      where ${which} and (period, id) > (${from.period}::date, ${from.id}::uuid)
      order by ${column}, period, id limit ${limit}
    ), found as (
      update cloud_cost_lines c
      set resource_id = m.resource_id, deployment_id = m.deployment_id, tenant_id = m.tenant_id, matched_by = 'auto'
      from page l ${resourceThenJoin}
      where c.id = l.id and m.resource_id is not null and c.matched_by is null
      returning 1
    ), last as (select period, id from page order by period desc, id desc limit 1)
    select (select period from last) as period, (select id from last) as id,
      (select count(*) from found)::int as matched`.execute(tx)
  const { period, id, matched } = rows[0]!
  return { last: period !== null && id !== null ? { period, id } : undefined, matched }
}

/** Undefined when there is no such deployment. */
export async function findDeploymentTenant(executor: Executor, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ tenant_id: string }>`
    select tenant_id from cloud_deployments where id = ${id}`.execute(executor)
  return rows[0]?.tenant_id
}
