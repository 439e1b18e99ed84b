-- Sagas: runs of multi-step workflows, and the ledger of their steps. All times are the database's: what one node began
-- another may finish, and their clocks may differ.
create table saga_runs (
  id                  uuid primary key,
  kind                text not null,
  status              text not null check (status in ('pending', 'running', 'completed', 'failed', 'compensating', 'rolled_back')),
  step_modules        text[] not null,
  -- The step being run; between two steps, the one that comes next. It stays where it was when compensation began.
  current_step_index  int not null default 0,
  -- The step whose compensation is under way or comes next; none: nothing is left to compensate.
  compensating_index  int,
  inputs              jsonb not null,
  context             jsonb not null default '{}',
  cancel_requested    boolean not null default false,
  cancel_requested_by text,
  -- {step_idx, step, reason}
  error               jsonb,
  -- What the run is about: of one kind, at most one run with this key is under way.
  business_key        text not null,
  deployment_id       uuid references cloud_deployments (id),
  tenant_id           text check (length(tenant_id) between 1 and 128),
  actor               text not null,
  -- The job that was sent last to drive the run. Of a run without a claim, it tells whether anyone will come.
  job_id              uuid not null,
  -- Who drives the run now. Every write of a runner names its claim, so that one thought dead cannot write any more.
  claim               uuid,
  -- The runner's latest write. When the connection breaks during one, this tells whether it was made.
  last_write          uuid,
  heartbeat_at        timestamptz(3) not null,
  -- When somebody noticed that the heartbeat had stopped. Its worker is dead when there is no beat after that either;
  -- after an outage of the database, when all beats are old, the living are heard first.
  suspected_at        timestamptz(3),
  created_at          timestamptz(3) not null,
  started_at          timestamptz(3),
  finished_at         timestamptz(3),
  check ((finished_at is not null) = (status in ('completed', 'failed', 'rolled_back')))
);
create unique index saga_runs_one_under_way on saga_runs (kind, business_key)
  where status in ('pending', 'running', 'compensating');
-- What the rescue looks at: few rows, whatever the history. Not by the time of the heartbeat: an update of an indexed
-- column has to touch every index of the table, and the heartbeat changes at every step.
create index saga_runs_under_way on saga_runs (id) where status in ('pending', 'running', 'compensating');
create index saga_runs_status on saga_runs (status, id);
create index saga_runs_kind on saga_runs (kind, id);
create index saga_runs_deployment on saga_runs (deployment_id, id);
create index saga_runs_tenant on saga_runs (tenant_id, id);

create table saga_step_results (
  saga_id                    uuid not null references saga_runs (id),
  step_idx                   int not null,
  name                       text not null,
  status                     text not null check (status in ('running', 'completed', 'failed', 'compensated')),
  output                     jsonb,
  attempts                   int not null default 1,
  error                      text,
  -- How often a worker died in the middle of this step's compensation.
  compensation_interruptions int not null default 0,
  started_at                 timestamptz(3) not null,
  finished_at                timestamptz(3),
  compensated_at             timestamptz(3),
  primary key (saga_id, step_idx)
);
