-- The provider's money: what the balance was, which invoices there are, and every line of them.
create table cloud_balance_snapshots (
  id                    uuid primary key,
  provider              text not null,
  month_to_date_balance numeric not null,
  account_balance       numeric not null,
  month_to_date_usage   numeric not null,
  currency              text not null check (currency ~ '^[A-Z]{3}$'),
  -- When the provider worked it out, and when we asked.
  generated_at          timestamptz(3) not null,
  recorded_at           timestamptz(3) not null
);
create index cloud_balance_snapshots_latest on cloud_balance_snapshots (provider, recorded_at, id);

create table cloud_invoices (
  id                   uuid primary key,
  provider             text not null,
  invoice_uuid         text not null,
  -- What people call it; the provider's `invoice_id`.
  invoice_number       text,
  -- The first day of its month.
  period               date not null check (extract(day from period) = 1),
  amount               numeric not null,
  currency             text not null check (currency ~ '^[A-Z]{3}$'),
  ingest_status        text not null default 'pending' check (ingest_status in ('pending', 'ingested', 'failed')),
  ingest_error         text,
  -- Counts the line sets this invoice has had. An ingest that finds another number than it began with has been overtaken.
  ingest_count         int not null default 0,
  -- Of the line set that stands, whatever became of later attempts:
  ingested_at          timestamptz(3),
  line_count           int,
  lines_amount         numeric,
  amount_net_minor     bigint,
  amount_tax_minor     bigint,
  reconciled           boolean,
  -- of the raw file,
  sha256               text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- and of what the lines say, whatever the order of the file's columns and whoever the lines are assigned to.
  lines_hash           text check (lines_hash ~ '^[0-9a-f]{64}$'),
  created_at           timestamptz(3) not null,
  updated_at           timestamptz(3) not null,
  -- What finance was told: `pushed_lines_hash` is the `lines_hash` of the set it has. Another one there means that the
  -- lines have changed since, and that finance is to be told again; none at all (empty), that something was sent and
  -- nobody knows whether it arrived.
  pushed_to_finance_at timestamptz(3),
  finance_invoice_id   text,
  finance_action       text check (finance_action in ('created', 'updated')),
  pushed_lines_hash    text,
  finance_error        text,
  -- Counts the pushes that were begun. Of several at once only the last may say what finance has.
  push_count           int not null default 0,
  constraint cloud_invoices_uuid unique (provider, invoice_uuid),
  check ((ingested_at is null) = (lines_hash is null)),
  check ((pushed_to_finance_at is null) = (finance_invoice_id is null)),
  check ((pushed_to_finance_at is null) = (pushed_lines_hash is null)),
  check (ingest_status <> 'ingested' or ingested_at is not null)
);
create index cloud_invoices_period on cloud_invoices (period, id);
create index cloud_invoices_status on cloud_invoices (ingest_status, period, id);
-- What finance does not know yet: few rows, whatever the history.
create index cloud_invoices_to_push on cloud_invoices (id)
  where lines_hash is not null and pushed_lines_hash is distinct from lines_hash;

-- Written a million at a time. No foreign keys: each would be looked up for every row. What the columns name exists all
-- the same: lines are written under their invoice's lock, and neither resources nor deployments are ever deleted.
create table cloud_cost_lines (
  -- Rising with the lines of the file.
  id                uuid primary key,
  invoice_id        uuid not null,
  period            date not null,
  line_number       int not null,
  product           text not null,
  group_description text,
  description       text not null,
  kind              text not null,
  -- What the description calls the resource, for lines that can be a resource's.
  name              text,
  hours             numeric,
  start_at          timestamptz(3),
  end_at            timestamptz(3),
  amount            numeric not null,
  amount_minor      bigint not null,
  currency          text not null,
  project_name      text,
  category          text,
  is_tax            boolean not null,
  -- Tax by its description, but not by its product: a droplet named taxi, say.
  tax_flagged       boolean not null,
  -- Columns that we do not know.
  extra             jsonb,
  resource_id       uuid,
  deployment_id     uuid,
  tenant_id         text,
  matched_by        text check (matched_by in ('auto', 'hand')),
  matched           boolean not null generated always as (matched_by is not null) stored
);
-- Lists go by (period, id), with any one of these filters before it.
create index cloud_cost_lines_period on cloud_cost_lines (period, id);
create index cloud_cost_lines_invoice on cloud_cost_lines (invoice_id, period, id);
create index cloud_cost_lines_kind on cloud_cost_lines (kind, period, id);
create index cloud_cost_lines_matched on cloud_cost_lines (matched, period, id);
create index cloud_cost_lines_resource on cloud_cost_lines (resource_id, period, id) where resource_id is not null;
create index cloud_cost_lines_deployment on cloud_cost_lines (deployment_id, period, id) where deployment_id is not null;
create index cloud_cost_lines_tenant on cloud_cost_lines (tenant_id, period, id) where tenant_id is not null;

-- What an operator said a line is for. Kept apart from the lines, which a new ingest replaces: a line is known again by
-- what it says (line_key, without its amount) and by being the n-th of its invoice to say so.
create table cloud_line_assignments (
  invoice_id    uuid not null references cloud_invoices (id),
  line_key      text not null,
  occurrence    int not null check (occurrence > 0),
  resource_id   uuid references cloud_resources (id),
  deployment_id uuid references cloud_deployments (id),
  tenant_id     text check (length(tenant_id) between 1 and 128),
  assigned_by   text not null,
  assigned_at   timestamptz(3) not null,
  primary key (invoice_id, line_key, occurrence),
  check (num_nonnulls(resource_id, deployment_id, tenant_id) > 0)
);
create index cloud_line_assignments_resource on cloud_line_assignments (resource_id);
create index cloud_line_assignments_deployment on cloud_line_assignments (deployment_id);
create index cloud_line_assignments_tenant on cloud_line_assignments (tenant_id);

-- Lines are matched by kind and name, whatever the case,
create index cloud_resources_kind_and_name on cloud_resources (kind, lower(name));
-- and belong to whom the resource belonged then: changes of that are rare, and found here without reading the others.
create index cloud_resource_events_ownership on cloud_resource_events (resource_id, created_at)
  where changes ?| array['deployment_id', 'tenant_id'];
