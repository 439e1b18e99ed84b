// Cost lines: reads of one and single writes. Lists are in list-lines.ts, and how lines get in is in line-batch.ts.

import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { resourceThenJoin } from '../inventory/index.ts'
import type { Assignment } from './hand-assigned.ts'
import { BEFORE_ALL, type Place } from './list-lines.ts'
import type { CostLineRow, LineAssignmentRow } from './tables.ts'

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

const LINE = ['invoice_id', 'line_key', 'occurrence'] as const
const ASSIGNMENTS = auditedTable('cloud_line_assignments', { key: LINE })

export async function upsertAssignment(tx: Executor, row: LineAssignmentRow): Promise<void> {
  const { resource_id, deployment_id, tenant_id, assigned_by, assigned_at } = row
  const changes = { resource_id, deployment_id, tenant_id, assigned_by, assigned_at }
  await ASSIGNMENTS.upsert(tx, LINE, row, changes)
}

export async function deleteAssignment(
  tx: Executor,
  { invoice_id, line_key, occurrence }: Pick<LineAssignmentRow, 'invoice_id' | 'line_key' | 'occurrence'>,
): Promise<void> {
  await ASSIGNMENTS.delete(tx, { invoice_id, line_key, occurrence })
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
