-- Budgets: how much a month may come to, which thresholds of it were reached, and days that were unlike others of their weekday.
create table budgets (
  id            uuid primary key,
  name          text not null,
  -- Of a deployment, of all that a tenant has, or, with neither, of the whole account.
  tenant_id     text check (length(tenant_id) between 1 and 128),
  deployment_id uuid references cloud_deployments (id),
  -- What the tenant is charged, or what the provider takes.
  measure       text not null check (measure in ('charge', 'cost')),
  amount_minor  bigint not null check (amount_minor > 0),
  currency      text not null check (currency ~ '^[A-Z]{3}$'),
  -- [{"percent": 80, "on": "actual"}]
  thresholds    jsonb not null,
  -- Goes up when the amount is raised or in another currency: from then on every threshold can be reached anew.
  revision      int not null default 1,
  created_by    text not null,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null,
  check (deployment_id is null or tenant_id is not null)
);
create index budgets_tenant on budgets (tenant_id, id);
create index budgets_deployment on budgets (deployment_id, id);

-- What the last look at a budget saw.
create table budget_looks (
  budget_id        uuid primary key references budgets (id) on delete cascade,
  -- The first day of its month.
  period           date not null check (extract(day from period) = 1),
  actual_minor     numeric not null,
  -- None: it is too early to tell.
  forecast_minor   numeric,
  estimated        boolean not null,
  -- Amounts in other currencies, which are not added up.
  other_currencies jsonb not null,
  looked_at        timestamptz(3) not null
);

-- A threshold that was reached. The key lets it be told once, whoever looks at the same time.
create table budget_alerts (
  id            uuid primary key,
  budget_id     uuid not null references budgets (id) on delete cascade,
  period        date not null check (extract(day from period) = 1),
  revision      int not null,
  basis         text not null check (basis in ('actual', 'forecast')),
  percent       int not null check (percent > 0),
  -- The budget's amount then, and what was reached.
  amount_minor  bigint not null,
  reached_minor numeric not null,
  currency      text not null,
  reached_at    timestamptz(3) not null,
  constraint budget_alerts_once unique (budget_id, period, revision, basis, percent)
);
create index budget_alerts_budget on budget_alerts (budget_id, id);

-- A day that cost more than its weekday usually does; of a tenant, or of the whole account.
create table unusual_days (
  id           uuid primary key,
  tenant_id    text check (length(tenant_id) between 1 and 128),
  day          date not null,
  measure      text not null check (measure in ('charge', 'cost')),
  currency     text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor numeric not null,
  -- The median of the same weekday before, and the most that would not have been unusual.
  usual_minor  numeric not null,
  limit_minor  numeric not null,
  -- What made it, the largest difference first.
  lines        jsonb not null,
  found_at     timestamptz(3) not null,
  constraint unusual_days_once unique nulls not distinct (tenant_id, day, measure, currency)
);
create index unusual_days_tenant on unusual_days (tenant_id, id);
