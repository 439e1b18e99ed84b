-- The pricing catalog: plans, their versions and what each includes, addons, and fallback prices.
create table plans (
  id         uuid primary key,
  code       text not null unique,
  name       text not null,
  created_at timestamptz(3) not null
);

create table plan_versions (
  id               uuid primary key,
  plan_id          uuid not null references plans (id),
  version          int not null check (version > 0),
  base_price_cents bigint not null check (base_price_cents >= 0),
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  status           text not null check (status in ('draft', 'active', 'retired')),
  created_at       timestamptz(3) not null,
  published_at     timestamptz(3),
  retired_at       timestamptz(3),
  unique (plan_id, version)
);
-- Retire-then-activate in two transactions at once would leave two active versions; this index does not.
create unique index plan_versions_one_active on plan_versions (plan_id) where status = 'active';

create table plan_items (
  plan_version_id     uuid not null references plan_versions (id) on delete cascade,
  resource_kind       text not null,
  included_qty        bigint not null check (included_qty >= 0),
  overage_unit        text,
  overage_price_cents bigint check (overage_price_cents >= 0),
  hard_cap_qty        bigint check (hard_cap_qty >= included_qty),
  primary key (plan_version_id, resource_kind),
  check ((overage_unit is null) = (overage_price_cents is null))
);

-- A published version never changes: of its row only the move from active to retired is allowed, of its items nothing.
create function refuse_change_of_published_version() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.status = 'draft' then return old; end if;
  elsif old.status = 'draft' then
    return new;
  elsif old.status = 'active' and new.status = 'retired' and new.retired_at is not null
    and (new.id, new.plan_id, new.version, new.base_price_cents, new.currency, new.created_at, new.published_at)
      is not distinct from (old.id, old.plan_id, old.version, old.base_price_cents, old.currency, old.created_at, old.published_at) then
    return new;
  end if;
  raise exception 'plan version % is published and never changes', old.id using errcode = 'object_not_in_prerequisite_state';
end
$$;
create trigger published_is_final before update or delete on plan_versions
  for each row execute function refuse_change_of_published_version();

create function refuse_change_of_published_items() returns trigger language plpgsql as $$
declare
  parent uuid := case when tg_op = 'DELETE' then old.plan_version_id else new.plan_version_id end;
begin
  -- Locked, so that a publish and a change of its items cannot pass each other. A draft being deleted is gone already.
  if exists (select 1 from plan_versions where id = parent and status <> 'draft' for share) then
    raise exception 'plan version % is published and its items never change', parent using errcode = 'object_not_in_prerequisite_state';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
create trigger published_is_final before insert or update or delete on plan_items
  for each row execute function refuse_change_of_published_items();

create table addons (
  id            uuid primary key,
  code          text not null unique,
  name          text not null,
  resource_kind text not null,
  qty           bigint not null check (qty > 0),
  price_cents   bigint not null check (price_cents >= 0),
  currency      text not null check (currency ~ '^[A-Z]{3}$'),
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null
);

create table resource_prices (
  id             uuid primary key,
  resource_kind  text not null,
  unit           text not null,
  price_cents    bigint not null check (price_cents >= 0),
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  effective_from date not null,
  -- The first day it no longer holds; none: until further notice.
  effective_to   date check (effective_to > effective_from),
  created_at     timestamptz(3) not null,
  -- One price at a time for a kind, unit and currency. Equality inside an exclusion constraint needs an extension that
  -- the embedded engine lacks, so the three are compared as a point on the line of their hash.
  constraint resource_prices_no_overlap exclude using gist (
    int8range(
      hashtextextended(resource_kind || chr(31) || unit || chr(31) || currency, 0),
      hashtextextended(resource_kind || chr(31) || unit || chr(31) || currency, 0), '[]') with &&,
    daterange(effective_from, effective_to) with &&)
);
create index resource_prices_kind on resource_prices (resource_kind, unit, currency, effective_from);
