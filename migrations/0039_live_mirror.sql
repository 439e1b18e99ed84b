-- A mirror that is told of what happens: what the provider did is followed, what is missing is seen at once, and kinds that
-- an account does not have are told from those that fail.

-- Since when whole sweeps have not seen it. The release before neither sets nor clears it: it counts while there are strikes.
alter table cloud_resources add column missing_since timestamptz(3);
create index cloud_resources_missing on cloud_resources (id) where stale_strike_count > 0 and deleted_at is null;

-- Since when the provider has refused this kind in a row of runs; null: this run was not refused.
alter table sync_runs add column refused_since timestamptz(3);
alter table sync_runs drop constraint sync_runs_status_check;
alter table sync_runs add constraint sync_runs_status_check
  check (status in ('running', 'complete', 'partial', 'failed', 'unavailable'));

-- What a run came to, in figures of its task.
alter table task_runs add column result jsonb check (jsonb_typeof(result) = 'object');

-- The provider's action behind an event, where one is known: id, type, time, region.
alter table cloud_resource_events add column action jsonb check (jsonb_typeof(action) = 'object');
alter table cloud_drift add column action jsonb check (jsonb_typeof(action) = 'object');

-- How far the provider's list of actions has been followed, and what following has cost.
create table action_feed (
  provider     text primary key,
  -- The newest action that was read; null until the first.
  newest_id    bigint,
  -- When it was last read to where it was known; a gap is longer.
  followed_at  timestamptz(3),
  -- Who follows it does so at most once in a while, whichever node it is.
  claimed_at   timestamptz(3),
  error        text
);

-- Actions that were under way when they were last read: their resources are looked at again when they end.
create table open_actions (
  action_id  bigint primary key,
  read_at    timestamptz(3) not null
);

-- When each kind was last listed between the sweeps, what that cost, and when it is to be listed again.
create table kind_looks (
  kind      text primary key,
  looked_at timestamptz(3),
  requests  int not null default 1 check (requests > 0),
  due_at    timestamptz(3) not null
);

-- Requests made to look, by minute, of the hour that the provider counts.
create table look_requests (
  minute   timestamptz(3) primary key,
  requests int not null
);
