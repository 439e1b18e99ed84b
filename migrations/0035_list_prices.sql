-- The provider's droplet sizes, and what each has cost by list since when.
create table cloud_sizes (
  provider      text not null,
  slug          text collate "C" not null,
  description   text,
  vcpus         int not null,
  memory_mb     int not null,
  disk_gb       int not null,
  transfer_tb   numeric not null,
  price_monthly numeric not null check (price_monthly >= 0),
  price_hourly  numeric not null check (price_hourly >= 0),
  currency      text not null check (currency ~ '^[A-Z]{3}$'),
  regions       text[] not null,
  available     boolean not null,
  first_seen_at timestamptz(3) not null,
  last_seen_at  timestamptz(3) not null,
  primary key (provider, slug)
);

create table cloud_size_prices (
  provider      text not null,
  slug          text collate "C" not null,
  valid_from    timestamptz(3) not null,
  -- The first moment it no longer held; none: it holds.
  valid_to      timestamptz(3) check (valid_to > valid_from),
  price_monthly numeric not null,
  price_hourly  numeric not null,
  currency      text not null,
  primary key (provider, slug, valid_from),
  foreign key (provider, slug) references cloud_sizes (provider, slug)
);
create unique index cloud_size_prices_one_open on cloud_size_prices (provider, slug) where valid_to is null;

-- What a month without an invoice is estimated to cost. Each day's last estimate stays, so that it can be held against the
-- invoice that came later;
create table cost_estimates (
  id            uuid primary key,
  period        date not null check (extract(day from period) = 1),
  day           date not null,
  made_at       timestamptz(3) not null,
  -- Until when the costs are counted.
  as_of         timestamptz(3) not null,
  currency      text not null check (currency ~ '^[A-Z]{3}$'),
  -- What the provider said that the month had cost by then, if it did.
  usage_amount  numeric,
  -- The resources at their list prices until then,
  listed_minor  bigint not null,
  -- the estimate, which is what the provider said or else the list prices, and what the month will have cost at its end.
  amount_minor  bigint not null,
  month_minor   bigint not null,
  unique (period, day)
);

-- the lines of the month's last one stay too. They are read together with the lines of invoices. No foreign keys, as there.
create table cost_estimate_lines (
  id            uuid primary key,
  period        date not null,
  kind          text not null,
  name          text,
  resource_id   uuid,
  deployment_id uuid,
  tenant_id     text,
  project_name  text,
  -- The size or the unit that is priced, how many of it, and the list price of one for a month.
  sku           text,
  quantity      numeric,
  price_monthly numeric,
  start_at      timestamptz(3),
  end_at        timestamptz(3),
  amount        numeric not null,
  amount_minor  bigint not null,
  month_minor   bigint not null,
  currency      text not null
);
create index cost_estimate_lines_period on cost_estimate_lines (period, id);
create index cost_estimate_lines_tenant on cost_estimate_lines (tenant_id, period, id) where tenant_id is not null;
