-- What was provisioned should look like, where it differs, and which differences do not matter.

-- How the sweep can check a field of a spec against a whole table of live rows: `attribute`, a plain value that one
-- containment test settles together with all others of its spec; `column`, a column of the resource with a test of its
-- own; `single`, what has to be looked at by itself.
create function drift_check(field text, desired jsonb) returns text language sql immutable parallel safe as $$
  select case
    when field in ('name', 'region', 'status') and jsonb_typeof(desired) = 'string' then 'column'
    when field = 'tags' and jsonb_typeof(desired) = 'array' and not exists (
      select from jsonb_array_elements(desired) as tag where jsonb_typeof(tag) <> 'string') then 'column'
    when field in ('id', 'provider', 'provider_id', 'kind', 'name', 'region', 'status', 'tenant_id', 'project_id',
      'deployment_id', 'tags') then 'single'
    when jsonb_typeof(desired) in ('string', 'number', 'boolean') then 'attribute'
    else 'single'
  end
$$;

-- The part of a spec whose fields are checked in this way; null when there is none.
create function drift_part(spec jsonb, way text) returns jsonb language sql immutable parallel safe as $$
  select jsonb_object_agg(key, value) from jsonb_each(spec) where drift_check(key, value) = way
$$;

-- Desired tags in the order the inventory keeps live ones in, so that the two can be compared as they are.
create function drift_tags(spec jsonb) returns text[] language sql immutable parallel safe as $$
  select array(select distinct tag collate "C" from jsonb_array_elements_text(spec -> 'tags') as tag order by 1)
  where drift_check('tags', spec -> 'tags') = 'column'
$$;

create table cloud_provisioned (
  resource_id  uuid primary key references cloud_resources (id),
  -- Field → desired value.
  spec         jsonb not null check (jsonb_typeof(spec) = 'object'),
  spec_version int not null default 1 check (spec_version > 0),
  saga_id      uuid references saga_runs (id),
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  -- Kept apart for the sweep, which reads every row every hour: taking a spec to pieces costs more than reading it.
  attributes   jsonb generated always as (coalesce(drift_part(spec, 'attribute'), '{}')) stored,
  singles      jsonb generated always as (drift_part(spec, 'single')) stored,
  tags         text[] generated always as (drift_tags(spec)) stored
);
create index cloud_provisioned_saga on cloud_provisioned (saga_id);

-- Whoever writes rows of a resource's drift holds the lock of its row in cloud_provisioned.
create table cloud_drift (
  id               uuid primary key,
  resource_id      uuid not null references cloud_resources (id),
  -- The resource's, which never changes; here so that the inbox of a kind is one walk along an index.
  kind             text not null,
  field            text not null,
  desired          jsonb not null,
  actual           jsonb not null,
  status           text not null check (status in ('open', 'accepted', 'reverted', 'stale')),
  detected_at      timestamptz(3) not null,
  last_detected_at timestamptz(3) not null,
  resolved_at      timestamptz(3),
  resolved_by      text,
  check ((status = 'open') = (resolved_at is null))
  -- An open row is rewritten every hour: with room on its page no index is touched.
) with (fillfactor = 70);
create unique index cloud_drift_one_open on cloud_drift (resource_id, field) where status = 'open';
create index cloud_drift_status on cloud_drift (status, id);
create index cloud_drift_kind on cloud_drift (kind, status, id);
create index cloud_drift_resource on cloud_drift (resource_id, id);

-- Mismatches that a rule covers: seen by the last sweep, but not open.
create table cloud_drift_ignored (
  id               uuid primary key,
  resource_id      uuid not null references cloud_resources (id),
  kind             text not null,
  field            text not null,
  desired          jsonb not null,
  actual           jsonb not null,
  -- Not a foreign key: a rule can be deleted without waiting for a sweep, and the next sweep then opens the row.
  rule_id          uuid not null,
  detected_at      timestamptz(3) not null,
  last_detected_at timestamptz(3) not null,
  unique (resource_id, field)
);
create index cloud_drift_ignored_kind on cloud_drift_ignored (kind, id);

create table drift_ignore_rules (
  id          uuid primary key,
  -- Null: any.
  kind        text,
  resource_id uuid references cloud_resources (id),
  -- A field's name; `*` stands for any run of characters.
  field       text not null,
  reason      text not null,
  expires_at  timestamptz(3),
  created_by  text not null,
  created_at  timestamptz(3) not null
);
create index drift_ignore_rules_resource on drift_ignore_rules (resource_id);
