-- The provider mirrored: projects, resources, what happened to each resource, and the record of every sweep.

-- UUIDv7 for rows that a set-based statement makes (PostgreSQL has one of its own only from 18 on).
create function uuid_v7() returns uuid language sql volatile parallel safe as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- A time as the API writes it.
create function iso8601(at timestamptz) returns text language sql stable parallel safe as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Event logs are append-only by the database, not by good manners.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'object_not_in_prerequisite_state';
end
$$;

create table cloud_projects (
  id                 uuid primary key,
  provider           text not null,
  provider_id        text not null,
  name               text not null,
  description        text,
  is_default         boolean not null,
  tenant_id          text check (length(tenant_id) between 1 and 128),
  purpose            text not null check (purpose in ('internal', 'tenant', 'shared', 'unassigned')),
  first_seen_at      timestamptz(3) not null,
  last_seen_at       timestamptz(3) not null,
  stale_strike_count int not null default 0,
  deleted_at         timestamptz(3),
  unique (provider, provider_id)
);
create index cloud_projects_tenant on cloud_projects (tenant_id, id);

-- Which project holds which resource, as the provider last said; a resource found later is placed by it.
create table cloud_project_members (
  provider    text not null,
  kind        text not null,
  provider_id text not null,
  project_id  uuid not null references cloud_projects (id),
  primary key (provider, kind, provider_id)
);
create index cloud_project_members_project on cloud_project_members (project_id);

create table cloud_resources (
  id                 uuid primary key,
  provider           text not null,
  provider_id        text not null,
  kind               text not null,
  name               text not null,
  region             text,
  status             text,
  tenant_id          text,
  project_id         uuid references cloud_projects (id),
  deployment_id      uuid,
  tags               text[] not null,
  attrs              jsonb not null,
  -- Of what the provider last answered: equal means that nothing has changed.
  fingerprint        text not null,
  first_seen_at      timestamptz(3) not null,
  last_seen_at       timestamptz(3) not null,
  stale_strike_count int not null default 0,
  deleted_at         timestamptz(3),
  unique (provider, kind, provider_id)
  -- Every sweep rewrites last_seen_at of every row. It is in no index, and pages keep room for a second version of each
  -- of their rows, so that the new version stays on its page and no index is touched. With less room the first sweeps
  -- move rows until the pages are half empty all the same (measured at 70: 60 % stayed in the first sweep).
) with (fillfactor = 50);
create index cloud_resources_tenant on cloud_resources (tenant_id, id);
create index cloud_resources_kind on cloud_resources (kind, id);
create index cloud_resources_region on cloud_resources (region, id);
create index cloud_resources_status on cloud_resources (status, id);
create index cloud_resources_name on cloud_resources (name, id);
create index cloud_resources_project on cloud_resources (project_id, id);
create index cloud_resources_deployment on cloud_resources (deployment_id, id);
create index cloud_resources_tags on cloud_resources using gin (tags);

create table cloud_resource_events (
  id          uuid primary key,
  resource_id uuid not null references cloud_resources (id),
  kind        text not null check (kind in ('discovered', 'updated', 'deleted', 'drift_detected', 'tagged', 'restored')),
  -- Field → {before, after}; null where the kind says it all.
  changes     jsonb,
  actor       text not null,
  created_at  timestamptz(3) not null
);
create index cloud_resource_events_resource on cloud_resource_events (resource_id, id desc);
create trigger append_only before update or delete on cloud_resource_events
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on cloud_resource_events
  for each statement execute function refuse_change();

create table sync_runs (
  id           uuid primary key,
  -- All runs of one sweep over all kinds.
  sweep_id     uuid not null,
  kind         text not null,
  -- Counts up when the job is tried again; a worker thought dead cannot finish a run that another took over.
  attempt      int not null default 1,
  status       text not null check (status in ('running', 'complete', 'partial', 'failed')),
  started_at   timestamptz(3) not null,
  finished_at  timestamptz(3),
  pages        int not null default 0,
  seen         int not null default 0,
  total        int,
  inserted     int not null default 0,
  updated      int not null default 0,
  struck       int not null default 0,
  deleted      int not null default 0,
  restored     int not null default 0,
  -- Deletions held back by the brake, until an operator confirms them.
  held         int not null default 0,
  confirmed_at timestamptz(3),
  confirmed_by text,
  error        text,
  unique (sweep_id, kind)
);
-- Two sweeps of one kind never run at once.
create unique index sync_runs_one_running on sync_runs (kind) where status = 'running';
create index sync_runs_kind on sync_runs (kind, id desc);

-- How fresh each kind is: the start of its last complete sweep.
create table sync_freshness (
  kind        text primary key,
  complete_at timestamptz(3) not null,
  run_id      uuid not null references sync_runs (id)
);
create index sync_freshness_run on sync_freshness (run_id);
