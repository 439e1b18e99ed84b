-- The scheduled tasks this service knows, whether they are paused, and every run they had.
create table scheduled_tasks (
  name        text primary key,
  description text not null,
  queue       text not null,
  cron        text not null,
  paused_at   timestamptz(3),
  paused_by   text
);

-- A run's id is its job's id in the queue.
create table task_runs (
  id           uuid primary key,
  task         text not null references scheduled_tasks (name),
  trigger      text not null check (trigger in ('schedule', 'manual')),
  requested_by text,
  status       text not null check (status in ('queued', 'running', 'completed', 'failed', 'skipped')),
  attempts     int not null default 0,
  requested_at timestamptz(3) not null,
  started_at   timestamptz(3),
  finished_at  timestamptz(3),
  error        text
);

-- The latest run of a task, and its history page by page (ids are UUIDv7: they sort by time).
create index task_runs_task_id on task_runs (task, id desc);
-- Old runs are deleted by age.
create index task_runs_requested_at on task_runs (requested_at);
