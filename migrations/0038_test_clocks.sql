-- Test clocks: a tenant whose time is moved on by hand, outside of production. Its hours, periods and months follow the clock, and
-- nobody else's do.
create table test_clocks (
  id           uuid primary key,
  tenant_id    text not null check (length(tenant_id) between 1 and 128),
  -- Where it began; its hours are metered from there to its time.
  started_at   timestamptz(3) not null,
  -- What time it is for the tenant: a whole hour, for hours are metered whole.
  now          timestamptz(3) not null check (extract(epoch from now)::bigint % 3600 = 0),
  -- Where it is being moved to; none: it stands.
  target       timestamptz(3) check (target >= now),
  -- The first moment that is in none of its closed months; none: none is closed.
  closed_until timestamptz(3),
  created_by   text not null,
  created_at   timestamptz(3) not null,
  -- When it was taken away; from then on the tenant has the service's time, and what the clock has metered stays.
  ended_at     timestamptz(3),
  check (now >= started_at),
  check (ended_at is null or target is null)
);
create unique index test_clocks_one_each on test_clocks (tenant_id) where ended_at is null;
create index test_clocks_tenant on test_clocks (tenant_id, now);

-- Statements that a clock has closed are numbered apart: nobody else's numbers have a gap because of them.
alter table statements add column test_clock_id uuid references test_clocks (id);
alter table statements drop constraint statements_period_ordinal_key;
create unique index statements_ordinal on statements (period, ordinal) where test_clock_id is null;
create unique index statements_test_ordinal on statements (test_clock_id, period, ordinal);

-- What counted for an hour that is metered stays: for a tenant under a clock, that has passed by the clock.
create or replace function refuse_change_of_metered_terms() returns trigger language plpgsql as $$
declare
  changed_from timestamptz;
  clock_now timestamptz;
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'valid_to' = to_jsonb(old) - 'valid_to' then
    changed_from := least(old.valid_to, new.valid_to);
    select c.now into clock_now from test_clocks c
    join cloud_deployments d on d.tenant_id = c.tenant_id join subscriptions s on s.deployment_id = d.id
    where s.id = old.subscription_id and c.ended_at is null;
    if old.valid_to is null or clock_now <= changed_from or clock_now is null and not exists (
      select from metered_hours where hour > changed_from - interval '1 hour'
    ) then
      return new;
    end if;
  end if;
  raise exception 'what % says of a time that was stays so', tg_table_name using errcode = 'object_not_in_prerequisite_state';
end
$$;
