-- Looks at the provider are ordered by a number that the database gives out before the provider is asked, never by the
-- clocks of the nodes that looked: a node whose clock was ahead would otherwise make everybody else's news old.
create sequence provider_looks;

-- The last look that showed the resource, or found it gone. 0: before there were numbers.
alter table cloud_resources add column last_look bigint not null default 0;
alter table cloud_projects add column last_look bigint not null default 0;
-- Beside placed_at, which nodes of the version before still write alone.
alter table cloud_project_members add column placed_look bigint;

alter table sync_runs
  -- Taken when the run began: what no later look has shown, this run has not seen.
  add column look bigint not null default 0,
  -- Items of the listing that were stored in part, and that could not be stored at all; what was wrong, in our words.
  add column cut int not null default 0,
  add column set_aside int not null default 0,
  add column remarks text;
