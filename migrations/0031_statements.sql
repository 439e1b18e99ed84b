-- What a subscription's month came to, written once when the month is closed. A correction is a further statement that names the
-- first, with the differences.
create table statements (
  id              uuid primary key,
  subscription_id uuid not null references subscriptions (id),
  deployment_id   uuid not null references cloud_deployments (id),
  tenant_id       text not null,
  -- The first day of the month.
  period          date not null check (extract(day from period) = 1),
  -- 1, and counting up with every correction.
  sequence        int not null check (sequence > 0),
  adjusts         uuid references statements (id),
  -- The statements of a month are numbered without a gap.
  ordinal         int not null check (ordinal > 0),
  currency        text not null,
  total_cents     numeric not null,
  -- As text, for the hash is over it.
  lines           json not null,
  content_hash    text not null,
  closed_at       timestamptz(3) not null,
  unique (subscription_id, period, sequence),
  unique (period, ordinal),
  check ((sequence = 1) = (adjusts is null))
);
create index statements_deployment on statements (deployment_id, id);
create index statements_tenant on statements (tenant_id, id);
create index statements_adjusts on statements (adjusts);

-- The months of which every subscription has its statement; none before the last one is open.
create table closed_months (
  period    date primary key check (extract(day from period) = 1),
  closed_at timestamptz(3) not null
);

create trigger append_only before update or delete on statements
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on statements
  for each statement execute function refuse_change();
create trigger append_only before update or delete on closed_months
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on closed_months
  for each statement execute function refuse_change();

-- Nothing begins or ends in a month that is closed any more.
create function refuse_change_of_closed_month() returns trigger language plpgsql as $$
declare
  since timestamptz := case tg_op when 'INSERT' then new.valid_from else least(old.valid_to, new.valid_to) end;
begin
  if exists (select from closed_months where (period + interval '1 month') at time zone 'UTC' > since) then
    raise exception 'the month of % is closed', since using errcode = 'object_not_in_prerequisite_state';
  end if;
  return new;
end
$$;
create trigger closed_is_final before insert or update on subscription_terms
  for each row execute function refuse_change_of_closed_month();
create trigger closed_is_final before insert or update on subscription_addons
  for each row execute function refuse_change_of_closed_month();
