// SQL of unusual days: what is read to find them, and each is told once.
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { publishEvents } from '../webhooks/index.ts'
import type { Measure } from './budget.ts'
import { type Line, UnusualDay } from './unusual-day.ts'

const BY_DAY = {
  name: 'balances_by_day',
  text: `select distinct on (day) (generated_at at time zone 'UTC')::date::text as day, currency,
      round(month_to_date_usage * 100)::text as minor
    from cloud_balance_snapshots
    where recorded_at >= $1::timestamptz and recorded_at < $2::timestamptz + interval '1 day'
      and generated_at >= $1::timestamptz and generated_at < $2::timestamptz
    order by day, recorded_at desc, id desc`,
}

export interface DayBalance {
  day: string
  currency: string
  /** Whole minor units. */
  minor: string
}

/** The last that the provider said on each day, from the start of one to the start of another. */
export const balancesByDay = (executor: Executor, from: string, to: string): Promise<DayBalance[]> =>
  runStatement(executor, BY_DAY, [`${from}T00:00:00Z`, `${to}T00:00:00Z`])

/** What an hour of each kind cost in the last invoice before the day `$1`, in minor units. */
const HOUR_PRICES = `
  select kind, currency, sum(amount_minor)::numeric / sum(hours) as per_hour from cloud_cost_lines
  where period = (select max(period) from cloud_invoices where period < $1::date and ingested_at is not null)
    and hours > 0 and not is_tax
  group by kind, currency`

const COSTS_BY_DAY = {
  name: 'budgets_costs_by_day',
  text: `with price as (${HOUR_PRICES}), lived as (
      select d.day, v.tenant_id, v.deployment_id, v.kind,
        sum(extract(epoch from least(coalesce(v.valid_to, d.to_at), d.to_at) - greatest(v.valid_from, d.from_at))) as seconds
      from (select day, day::timestamp at time zone 'UTC' as from_at, (day + 1)::timestamp at time zone 'UTC' as to_at
        from unnest($2::date[]) day) d
      join resource_versions v on v.deleted_at is null and v.valid_from < d.to_at
        and (v.valid_to is null or v.valid_to > d.from_at)
      group by d.day, v.tenant_id, v.deployment_id, v.kind
    )
    select day::text as day, tenant_id, deployment_id, kind, round(seconds / 3600 * per_hour)::text as minor
    from lived join price using (kind) where currency = $3 order by kind, tenant_id, deployment_id, day`,
}

export interface DayCost {
  day: string
  tenant_id: string | null
  deployment_id: string | null
  kind: string
  minor: string
}

/** What lived on the days, at what an hour of its kind cost in the last invoice before them. */
export const costsByDay = (
  executor: Executor,
  days: readonly string[],
  currency: string,
): Promise<DayCost[]> => runStatement(executor, COSTS_BY_DAY, [days.toSorted().at(-1), days, currency])

export interface NewUnusualDay {
  id: string
  tenant_id: string | null
  day: string
  measure: Measure
  currency: string
  amount_minor: bigint
  usual_minor: bigint
  limit_minor: bigint
  lines: readonly Line[]
}

const TELL = {
  name: 'unusual_days_tell',
  text: `insert into unusual_days (id, tenant_id, day, measure, currency, amount_minor, usual_minor, limit_minor, lines, found_at)
    select r.id, r.tenant_id, r.day, r.measure, r.currency, r.amount_minor, r.usual_minor, r.limit_minor, (
      select coalesce(jsonb_agg(to_jsonb(l)), '[]') from jsonb_to_recordset(r.lines)
        l (tenant_id text, deployment_id uuid, kind text, amount_minor numeric, usual_minor numeric)), $2::timestamptz
    from jsonb_to_recordset($1::jsonb) r (id uuid, tenant_id text, day date, measure text, currency text, amount_minor numeric,
      usual_minor numeric, limit_minor numeric, lines jsonb)
    order by r.tenant_id, r.day, r.currency
    on conflict on constraint unusual_days_once do nothing returning id`,
}

const EVENTS = {
  name: 'unusual_days',
  text: `select 'cost.unusual_day' as type, u.tenant_id, u.found_at as occurred_at,
      json_build_object('tenant_id', u.tenant_id, 'unusual_day', ${jsonOf(UnusualDay, 'u')}) as data
    from unusual_days u where u.id = any($1::uuid[]) order by u.id`,
}

/** Those that nobody has told are told; how many. */
export async function tellUnusualDays(
  tx: Executor,
  days: readonly NewUnusualDay[],
  at: string,
): Promise<number> {
  if (days.length === 0) return 0
  const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
  const told = await runStatement<{ id: string }>(tx, TELL, [JSON.stringify(days, asText), at])
  if (told.length > 0) await publishEvents(tx, EVENTS, [told.map(({ id }) => id)])
  return told.length
}

/** As JSON text, newest first. */
export const listUnusualDays = (
  executor: Executor,
  scope: Scope,
  tenantId: string | undefined,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'unusual_days',
    select: `select u.id, ${jsonOf(UnusualDay, 'u')}::text as json from unusual_days u`,
    filters: {
      scope: ['u.tenant_id = ?', scope.allTenants ? null : scope.tenantId],
      tenant_id: ['u.tenant_id = ?', tenantId],
    },
    orderBy: ['u.id'],
    descending: true,
    after,
    limit,
  })
