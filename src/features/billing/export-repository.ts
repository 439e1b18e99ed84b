// SQL of exports: lines in batches, each read by itself, so that a slow client holds no transaction and no snapshot.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { FocusLine } from './focus-row.ts'
import { type LineFilter, lineColumns } from './list-lines.ts'

/**
 * Grows with every line set that is replaced. What was read between two equal numbers was read from the same sets.
 */
export async function countLineSets(
  executor: Executor,
  { period, invoice_id }: Pick<LineFilter, 'period' | 'invoice_id'>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(ingest_count), 0)::bigint as count from cloud_invoices
    where (${period ?? null}::date is null or period = ${period ?? null}::date)
      and (${invoice_id ?? null}::uuid is null or id = ${invoice_id ?? null}::uuid)`.execute(executor)
  return rows[0]!.count
}

const FOCUS_LINE = [
  'id',
  'invoice_id',
  'resource_id',
  'period',
  'product',
  'description',
  'kind',
  'hours',
  'start_at',
  'end_at',
  'amount',
  'currency',
  'project_name',
  'is_tax',
  'tax_flagged',
  'deployment_id',
  'tenant_id',
] as const

/**
 * A month's lines in the order of ids, with their invoices and resources; a tenant's without resources that it no longer
 * has, for their names and tags are another's now, and with what list-lines.ts leaves.
 */
export async function listFocusLines(
  executor: Executor,
  scope: Scope,
  period: string,
  after: string | null,
  limit: number,
): Promise<FocusLine[]> {
  const { rows } = await sql<FocusLine>`
    select l.*, i.invoice_uuid, i.invoice_number, case when r.id is not null then jsonb_build_object(
      'kind', r.kind, 'provider_id', r.provider_id, 'name', r.name, 'region', r.region, 'tags', r.tags) end as resource
    from (
      select ${sql.raw(lineColumns(scope, FOCUS_LINE))}
      from cloud_cost_lines
      where ${scope.allTenants ? sql`true` : sql`tenant_id = ${scope.tenantId}`}
        and period = ${period} and id > ${after ?? '00000000-0000-0000-0000-000000000000'}
      order by id limit ${limit}
    ) l
    join cloud_invoices i on i.id = l.invoice_id
    left join cloud_resources r on r.id = l.resource_id
      ${scope.allTenants ? sql`` : sql`and r.tenant_id = l.tenant_id`}
    order by l.id`.execute(executor)
  return rows
}
