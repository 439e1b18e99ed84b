// All SQL of usage events: each is kept once and counted in its hour by one statement; and what they add up to.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { UsageEvent } from './cloud-event.ts'

/**
 * The parts are done one after the other, and each in the order of its keys: the events first, for everything behind reads
 * what they were; then hours, members and months. So writers of the same rows wait for each other and never in a circle.
 */
const INSERT = {
  name: 'usage_events_insert',
  text: `with made as (
      insert into usage_events (tenant_id, source, event_id, deployment_id, meter, at, value, member, received_at)
      select e.*, $9::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[],
        $7::numeric[], $8::text[]) e
      on conflict do nothing
      returning deployment_id, meter, at, value, member, event_id
    ), hours as (
      insert into usage_meter_hours as h (deployment_id, meter, hour, total, highest, last, last_at, last_id)
      select deployment_id, meter, date_trunc('hour', at, 'UTC'), sum(value), max(value),
        (array_agg(value order by at desc, event_id desc))[1], max(at),
        (array_agg(event_id order by at desc, event_id desc))[1]
      from made where value is not null group by 1, 2, 3 order by 1, 2, 3
      on conflict (deployment_id, meter, hour) do update set
        total = h.total + excluded.total,
        highest = greatest(h.highest, excluded.highest),
        last = case when (excluded.last_at, excluded.last_id) > (h.last_at, h.last_id) then excluded.last else h.last end,
        last_at = greatest(h.last_at, excluded.last_at),
        last_id = case when (excluded.last_at, excluded.last_id) > (h.last_at, h.last_id) then excluded.last_id else h.last_id end
    ), members as (
      insert into usage_meter_members (deployment_id, meter, month, member)
      select distinct deployment_id, meter, (date_trunc('month', at, 'UTC') at time zone 'UTC')::date, member
      from made where member is not null order by 1, 2, 3, 4
      on conflict do nothing
    ), late as (
      insert into late_usage (deployment_id, month, received_at)
      select distinct deployment_id, (date_trunc('month', at, 'UTC') at time zone 'UTC')::date, $9::timestamptz
      from made where at < $10::timestamptz order by 1, 2
      on conflict (deployment_id, month) do update set received_at = excluded.received_at
    )
    select count(*)::int as made from made`,
}

/** How many were new. `monthStart` is the beginning of the running month: whatever is older is late. */
export async function insertEvents(
  tx: Executor,
  events: readonly UsageEvent[],
  receivedAt: string,
  monthStart: string,
): Promise<number> {
  if (events.length === 0) return 0
  const sorted = events.toSorted(byKey)
  const column = (name: keyof UsageEvent) => sorted.map(event => event[name])
  const [row] = await runStatement<{ made: number }>(tx, INSERT, [
    ...[column('tenant_id'), column('source'), column('event_id'), column('deployment_id')],
    ...[column('meter'), column('at'), column('value'), column('member'), receivedAt, monthStart],
  ])
  return row!.made
}

/** Any order will do, as long as every writer takes the same one. */
function byKey(a: UsageEvent, b: UsageEvent): number {
  if (a.event_id !== b.event_id) return a.event_id < b.event_id ? -1 : 1
  if (a.source !== b.source) return a.source < b.source ? -1 : 1
  return a.tenant_id < b.tenant_id ? -1 : a.tenant_id > b.tenant_id ? 1 : 0
}
