// All SQL of cost lines and of what operators assigned them to, except how they get in (line-batch.ts). An operator reads
// all lines, a tenant its own, without what is the operator's.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { resourceAsThenJoin, resourceThenJoin } from '../inventory/index.ts'
import { type Assignment, CostLine, type CostLineRow, type LineAssignmentRow } from './cost-line.ts'
import { FOCUS_FIELDS, type FocusLine } from './focus.ts'
import { SHOWN_GROUPS, type SummaryRow } from './summary.ts'

/** A resource may still be tied to a deployment of the tenant that had it before. */
export const OWN_DEPLOYMENT = `exists (
  select from cloud_deployments d where d.id = l.deployment_id and d.tenant_id = l.tenant_id)`

/**
 * What a tenant reads instead of a column. A project may have been another's in the course of the month, and nobody knows
 * what an unknown column holds.
 */
const FOR_TENANTS = {
  deployment_id: `case when ${OWN_DEPLOYMENT} then l.deployment_id end`,
  project_name: 'null::text',
  extra: `'{}'::json`,
}

/** A line `l` as the API writes it. */
const lineJson = ({ allTenants }: Scope) =>
  `${jsonOf(CostLine, 'l', allTenants ? {} : FOR_TENANTS)}::text as json`

/** Columns of lines `l` as they are for the reader. */
export const lineColumns = ({ allTenants }: Scope, columns: readonly string[]): string => {
  const shown: Record<string, string> = allTenants ? {} : FOR_TENANTS
  return columns.map(column => `${shown[column] ?? `l.${column}`} as ${column}`).join(', ')
}

/** By what lines are listed, and the type the database reads each as; `period` is the first day of a month. */
const TYPES = {
  ...({ period: 'date', kind: 'text', invoice_id: 'uuid', resource_id: 'uuid' } as const),
  ...({ deployment_id: 'uuid', tenant_id: 'text', matched: 'boolean' } as const),
}
export type LineFilter = { [Name in keyof typeof TYPES]?: Name extends 'matched' ? boolean : string }

/** Each has an index on (column, period, id); the one that leaves fewest rows first. */
const LEADING = ['resource_id', 'deployment_id', 'invoice_id', 'tenant_id', 'matched', 'kind'] as const
/** Those that leave out what is nobody's. */
const PARTIAL: ReadonlySet<string> = new Set(['resource_id', 'deployment_id', 'tenant_id'])

/** Sorts before every line there is. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const BEFORE_ALL: Key = ['-infinity', FIRST_ID]

export interface ListedLine {
  id: string
  period: string
  json: string
}

/** A page in the order of months, and within a month as the lines came; `after` holds the period and the id. */
export async function listLines(
  executor: Executor,
  scope: Scope,
  asked: LineFilter,
  limit: number,
  after: Key | null,
): Promise<ListedLine[]> {
  const tenant = scope.allTenants ? null : scope.tenantId
  const filter = tenant === null ? asked : { ...asked, tenant_id: tenant }
  const names = (Object.keys(TYPES) as (keyof LineFilter)[]).filter(name => filter[name] !== undefined)
  // Of an invoice a tenant has a few lines among a million: those of its own in the invoice's month are read.
  const ofInvoice = tenant !== null && filter.invoice_id !== undefined
  const leading = LEADING.find(name => names.includes(name) && !(ofInvoice && name === 'invoice_id'))
  const { period: month } = filter
  const [fromPeriod, fromId] = after ?? BEFORE_ALL
  const values: unknown[] = [limit]
  const where: string[] = []
  if (month === undefined) {
    values.push(fromPeriod, fromId)
    where.push('(l.period, l.id) > ($2::date, $3::uuid)')
  } else {
    // Not as a pair beside `period = …`: the index would then be entered where the month begins, and not where the page does.
    if (String(fromPeriod) > month) return []
    values.push(fromPeriod === month ? fromId : FIRST_ID)
    where.push('l.id > $2::uuid')
  }
  for (const name of names) {
    const value = `$${values.push(filter[name])}::${TYPES[name]}`
    // The page is read along the leading column's index. Written as `column = …` the planner would know that the order
    // by period and id is the same, and might walk past a million other lines; `any` hides it.
    where.push(name === leading ? `l.${name} = any(array[${value}])` : `l.${name} = ${value}`)
    if (name === leading && PARTIAL.has(name)) where.push(`l.${name} is not null`)
    if (tenant !== null && name === 'deployment_id') where.push(OWN_DEPLOYMENT)
    if (ofInvoice && name === 'invoice_id')
      where.push(`l.period = (select i.period from cloud_invoices i where i.id = ${value})`)
  }
  const text = `select l.id, l.period, ${lineJson(scope)} from cloud_cost_lines l
    where ${where.join(' and ')} order by ${leading ? `l.${leading}, ` : ''}l.period, l.id limit $1`
  const name = `cost_lines${tenant === null ? '' : '_of_tenant'}:${names.map(part => part.slice(0, 3)).join('')}`
  return runStatement(executor, { name, text }, values)
}

/** For an operator. */
export async function findLineJson(executor: Executor, id: string): Promise<string | undefined> {
  const text = `select ${lineJson({ allTenants: true })} from cloud_cost_lines l where l.id = $1::uuid`
  const rows = await runStatement<{ json: string }>(executor, { name: 'cost_line_show', text }, [id])
  return rows[0]?.json
}

/**
 * Grows with every line set that is replaced. What was read between two equal numbers was read from the same sets.
 */
export async function countLineSets(
  executor: Executor,
  { period = null, invoice_id = null }: { period?: string | null; invoice_id?: string | null },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(ingest_count), 0)::bigint as count from cloud_invoices
    where (${period}::date is null or period = ${period}::date)
      and (${invoice_id}::uuid is null or id = ${invoice_id}::uuid)`.execute(executor)
  return rows[0]!.count
}

/** A month's lines in the order of ids, with their invoices, and their resources as they were when each line ended. */
export async function listFocusLines(
  executor: Executor,
  scope: Scope,
  period: string,
  limit: number,
  after: string | null,
): Promise<FocusLine[]> {
  const { rows } = await sql<FocusLine>`
    select l.*, i.invoice_uuid, i.invoice_number, case when r.id is not null then jsonb_build_object(
      'kind', r.kind, 'provider_id', r.provider_id, 'name', r.name, 'region', r.region, 'tags', r.tags) end as resource
    from (
      select ${sql.raw(lineColumns(scope, [...FOCUS_FIELDS, 'invoice_id', 'resource_id']))}, ${RAN}
      from cloud_cost_lines l
      where ${scope.allTenants ? sql`true` : sql`l.tenant_id = ${scope.tenantId}`}
        and l.period = ${period} and l.id > ${after ?? FIRST_ID}
      order by l.id limit ${limit}
    ) l
    join cloud_invoices i on i.id = l.invoice_id
    ${resourceAsThenJoin(!scope.allTenants)}
    order by l.id`.execute(executor)
  return rows
}

const SUMMED = [
  ...['currency', 'kind', 'tenant_id', 'deployment_id', 'project_name', 'matched'],
  ...['amount', 'amount_minor', 'is_tax'],
]

/**
 * One pass over the month's lines. Largest amounts first; in each list, what belongs to nobody is a row of its own. There
 * may be as many groups as there are deployments: those behind the first hundred come as one row.
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
        select ${lineColumns(scope, SUMMED)} from cloud_cost_lines l
        where l.period = $1::date ${tenant === null ? '' : 'and l.tenant_id = $2'}
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
  const name = tenant === null ? 'billing_summary' : 'billing_summary_of_tenant'
  return runStatement<SummaryRow>(executor, { name, text }, tenant === null ? [period] : [period, tenant])
}

/** What finance is told of a line; whom it is assigned to may change without the invoice having changed. */
const PAYLOAD_FIELDS = [
  ...(['product', 'group_description', 'description', 'kind', 'project_name', 'category'] as const),
  ...(['hours', 'start_at', 'end_at', 'amount', 'amount_minor', 'is_tax'] as const),
] as const
export type PayloadLine = Pick<CostLineRow, (typeof PAYLOAD_FIELDS)[number]>

/** An invoice's lines in the order of the file. */
export function listPayloadLines(
  executor: Executor,
  invoiceId: string,
  limit: number,
  after: Key | null,
): Promise<(PayloadLine & { id: string; period: string })[]> {
  const [period, id] = after ?? BEFORE_ALL
  return executor
    .selectFrom('cloud_cost_lines')
    .select(['id', 'period', ...PAYLOAD_FIELDS])
    .where('invoice_id', '=', invoiceId)
    .where(sql<boolean>`(period, id) > (${period}::date, ${id}::uuid)`)
    .orderBy('period')
    .orderBy('id')
    .limit(limit)
    .execute()
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
      and (group_description, start_at, end_at, project_name) is not distinct from (${line.group_description}::text,
        ${line.start_at}::timestamptz, ${line.end_at}::timestamptz, ${line.project_name}::text)`.execute(tx)
  return rows[0]!.n
}

const LINE = ['invoice_id', 'line_key', 'occurrence'] as const
const ASSIGNMENTS = auditedTable('cloud_line_assignments', { key: LINE })

export function listAssignments(executor: Executor, invoiceId: string): Promise<LineAssignmentRow[]> {
  return executor
    .selectFrom('cloud_line_assignments')
    .selectAll()
    .where('invoice_id', '=', invoiceId)
    .execute()
}

export async function upsertAssignment(tx: Executor, row: LineAssignmentRow): Promise<void> {
  const { invoice_id, line_key, occurrence, ...changes } = row
  await ASSIGNMENTS.upsert(tx, LINE, row, changes)
}

export async function deleteAssignment(
  tx: Executor,
  line: Pick<LineAssignmentRow, (typeof LINE)[number]>,
): Promise<void> {
  await ASSIGNMENTS.delete(tx, line)
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
/** What resourceThenJoin found. */
const MATCH = sql`resource_id = m.resource_id, deployment_id = m.deployment_id, tenant_id = m.tenant_id, matched_by = 'auto'`

/** Matches a line anew, unless somebody has. */
export async function matchLine(tx: Executor, id: string): Promise<void> {
  await sql`
    update cloud_cost_lines c set ${MATCH}
    from (select id, kind, name, ${RAN} from cloud_cost_lines where id = ${id} and not matched) l ${resourceThenJoin}
    where c.id = l.id and m.resource_id is not null`.execute(tx)
}

/** Matches the next unmatched lines, of one invoice or of all; `last` is undefined at the end. */
export async function matchPage(
  tx: Executor,
  invoiceId: string | null,
  limit: number,
  after: Key | null,
): Promise<{ last: Key | undefined; matched: number }> {
  const [fromPeriod, fromId] = after ?? BEFORE_ALL
  // As in listLines: along the index of what leaves fewest lines.
  const [column, which] = invoiceId
    ? [sql`invoice_id`, sql`invoice_id = any(array[${invoiceId}::uuid]) and not matched`]
    : [sql`matched`, sql`matched = any(array[false])`]
  const { rows } = await sql<{ period: string | null; id: string | null; matched: number }>`
    with page as materialized (
      select id, period, kind, name, ${RAN} from cloud_cost_lines
      where ${which} and (period, id) > (${fromPeriod}::date, ${fromId}::uuid)
      order by ${column}, period, id limit ${limit}
    ), found as (
      update cloud_cost_lines c set ${MATCH}
      from page l ${resourceThenJoin}
      where c.id = l.id and m.resource_id is not null and c.matched_by is null
      returning 1
    ), last as (select period, id from page order by period desc, id desc limit 1)
    select (select period from last) as period, (select id from last) as id,
      (select count(*) from found)::int as matched`.execute(tx)
  const { period, id, matched } = rows[0]!
  return { last: period !== null && id !== null ? [period, id] : undefined, matched }
}
