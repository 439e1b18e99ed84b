// SQL of estimates: the lines of a month's last one, and what was said on each day. An operator reads all lines, a tenant its
// own.
import { sql } from 'kysely'
import { listPage } from '../../kernel/db/list.ts'
import type { Executor, Row } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { DailyEstimate, type Said } from './estimate.ts'

export type EstimateRow = Row<'cost_estimates'>
export type EstimateLineRow = Row<'cost_estimate_lines'>

/** Makes room for the month's next estimate, one at a time; months from before the one given are forgotten. */
export async function clearLines(tx: Executor, period: string, forgotten: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('cost_estimates'))`.execute(tx)
  await sql`delete from cost_estimate_lines where period = ${period} or period < ${forgotten}`.execute(tx)
}

export async function insertLines(tx: Executor, lines: Omit<EstimateLineRow, 'id'>[]): Promise<void> {
  if (lines.length === 0) return
  const columns = sql.raw(Object.keys(lines[0]!).join(', '))
  await sql`
    insert into cost_estimate_lines (id, ${columns})
    select uuid_v7(), ${columns}
    from jsonb_populate_recordset(null::cost_estimate_lines, ${JSON.stringify(lines)}::jsonb)`.execute(tx)
}

/** What a day said last. */
export async function upsertEstimate(tx: Executor, row: EstimateRow): Promise<void> {
  const { id: _, period, day, ...changes } = row
  await tx
    .insertInto('cost_estimates')
    .values(row)
    .onConflict(conflict => conflict.columns(['period', 'day']).doUpdateSet(changes))
    .execute()
}

/** The month's sum without taxes over ingested invoices; null without one. */
const INVOICED = `(
  select sum(i.amount_net_minor) from cloud_invoices i
  where i.period = e.period and i.currency = e.currency and i.lines_hash is not null)`

/** Newest first. */
export const listEstimates = (
  executor: Executor,
  period: string | undefined,
  limit: number,
  after: Key | null,
): Promise<{ day: string; period: string; json: string }[]> =>
  listPage(executor, {
    name: 'cost_estimates',
    select: `select e.day, e.period, ${jsonOf(DailyEstimate, 'e', { invoiced_minor: 'i.minor', off_minor: 'e.month_minor - i.minor' })}::text as json
      from cost_estimates e cross join lateral (select ${INVOICED}::bigint as minor) i`,
    filters: { period: ['e.period = ?', period] },
    orderBy: ['e.period', 'e.day'],
    descending: true,
    after,
    limit,
  })

export interface FoundEstimate extends Said {
  invoiced_minor: number | null
}

/**
 * The last estimate of a month, or of the newest before it that has an invoice. Of a tenant it is what its own resources
 * add up to, beside its own lines.
 */
export async function findEstimate(
  executor: Executor,
  scope: Scope,
  period: string,
  which: 'of' | 'before',
): Promise<FoundEstimate | undefined> {
  const tenant = scope.allTenants ? null : scope.tenantId
  const chosen =
    which === 'of'
      ? sql`e.period = ${period}`
      : sql`e.period < ${period} and ${sql.raw(INVOICED)} is not null`
  const { rows } = await sql<FoundEstimate>`
    with e as (select * from cost_estimates e where ${chosen} order by e.period desc, e.day desc limit 1)
    select e.period, e.made_at, e.as_of, e.currency,
      ${
        tenant === null
          ? sql`e.listed_minor, e.amount_minor, e.month_minor, ${sql.raw(INVOICED)}::bigint as invoiced_minor`
          : sql`coalesce(l.amount, 0)::bigint as listed_minor, coalesce(l.amount, 0)::bigint as amount_minor,
        coalesce(l.month, 0)::bigint as month_minor, case when ${sql.raw(INVOICED)} is not null then (
          select coalesce(sum(c.amount_minor) filter (where not c.is_tax), 0) from cloud_cost_lines c
          where c.tenant_id = ${tenant} and c.period = e.period and c.currency = e.currency)::bigint end as invoiced_minor`
      }
    from e left join lateral (
      select sum(l.amount_minor) as amount, sum(l.month_minor) as month from cost_estimate_lines l
      where l.tenant_id = ${tenant} and l.period = e.period) l on true`.execute(executor)
  return rows[0]
}
