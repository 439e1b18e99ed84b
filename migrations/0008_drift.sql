-- What was provisioned should look like, where it differs, and which differences do not matter.
create table cloud_provisioned (
  resource_id  uuid primary key references cloud_resources (id),
  -- Field → desired value.
  spec         jsonb not null check (jsonb_typeof(spec) = 'object'),
  spec_version int not null default 1 check (spec_version > 0),
  saga_id      uuid references saga_runs (id),
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null
);
create index cloud_provisioned_saga on cloud_provisioned (saga_id);

create table cloud_drift (
  id               uuid primary key,
  resource_id      uuid not null references cloud_resources (id),
  field            text not null,
  desired          jsonb not null,
  actual           jsonb not null,
  status           text not null check (status in ('open', 'accepted', 'reverted', 'stale')),
  detected_at      timestamptz(3) not null,
  last_detected_at timestamptz(3) not null,
  resolved_at      timestamptz(3),
  resolved_by      text,
  check ((status = 'open') = (resolved_at is null))
);
create unique index cloud_drift_one_open on cloud_drift (resource_id, field) where status = 'open';
create index cloud_drift_status on cloud_drift (status, id);
create index cloud_drift_resource on cloud_drift (resource_id, id);
