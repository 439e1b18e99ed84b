-- What the checks have found: one open row for each check and what it is about, closed by itself.
create table findings (
  id                 uuid primary key,
  check_name         text not null,
  -- What it is about, unique within the check: a resource's id, a kind, a line of an invoice.
  subject            text not null,
  resource_id        uuid references cloud_resources (id),
  -- Whose it was when it was opened; it is closed when that changes.
  tenant_id          text,
  deployment_id      uuid references cloud_deployments (id),
  -- Since when it is so, as well as is known.
  since              timestamptz(3) not null,
  evidence           jsonb not null check (jsonb_typeof(evidence) = 'object'),
  -- What it costs a month; 0 where nobody knows.
  monthly_cost       numeric not null,
  monthly_cost_minor bigint not null,
  currency           text not null check (currency ~ '^[A-Z]{3}$'),
  cost_source        text check (cost_source in ('invoice', 'list_price')),
  opened_at          timestamptz(3) not null,
  -- The last run that found it; of one that is open, the check's own row says so.
  last_found_at      timestamptz(3),
  closed_at          timestamptz(3),
  -- Until then it is not shown as open, and why.
  snoozed_until      timestamptz(3),
  snooze_reason      text,
  snoozed_by         text,
  check ((snoozed_until is null) = (snooze_reason is null) and (snoozed_until is null) = (snoozed_by is null)),
  check (closed_at is null or last_found_at is not null)
);
create unique index findings_one_open on findings (check_name, subject) where closed_at is null;
-- The costliest first, of all and of a tenant, and those that are over.
create index findings_open on findings (monthly_cost_minor, id) where closed_at is null;
create index findings_tenant on findings (tenant_id, monthly_cost_minor, id);
create index findings_resource on findings (resource_id, id);
create index findings_deployment on findings (deployment_id, id);
create index findings_closed on findings (closed_at) where closed_at is not null;

-- When each check last ran, and what was wrong with it.
create table finding_checks (
  check_name text primary key,
  -- The last run that went well.
  found_at   timestamptz(3),
  failed_at  timestamptz(3),
  error      text,
  check ((failed_at is null) = (error is null))
);
