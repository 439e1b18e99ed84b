-- Usage that is told by events: every event once, and what they add up to by the hour.

-- An event is known by its source and id among those of its tenant, for good. No foreign keys: the writer has read meter and
-- deployment, neither is ever deleted, and the hours below, written with the events, have them; a check for each row would
-- cost as much as the row. Names compare as bytes, which is what they are.
create table usage_events (
  tenant_id     text collate "C" not null,
  source        text collate "C" not null,
  event_id      text collate "C" not null,
  deployment_id uuid not null,
  meter         text collate "C" not null,
  at            timestamptz(3) not null,
  -- What was used; of a meter that counts different things, which one it was.
  value         numeric(25, 9) check (value >= 0),
  member        text,
  received_at   timestamptz(3) not null,
  primary key (tenant_id, source, event_id),
  check ((value is null) <> (member is null))
);

-- What was told stays: corrections are further events.
create trigger append_only before update or delete on usage_events
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on usage_events
  for each statement execute function refuse_change();

-- What the events of an hour come to, kept with them in one statement.
create table usage_meter_hours (
  deployment_id uuid not null references cloud_deployments (id),
  meter         text collate "C" not null references meters (code),
  hour          timestamptz(3) not null check (extract(epoch from hour)::bigint % 3600 = 0),
  total         numeric not null,
  highest       numeric not null,
  -- Of meters that ask for it: that of the latest time, then of the greater id, so that the order of arrival makes no
  -- difference.
  last          numeric,
  last_at       timestamptz(3),
  last_id       text collate "C",
  primary key (deployment_id, meter, hour)
) with (fillfactor = 70);
create index usage_meter_hours_meter on usage_meter_hours (meter, hour);

-- The different things of a month, for meters that count those.
create table usage_meter_members (
  deployment_id uuid not null references cloud_deployments (id),
  meter         text collate "C" not null references meters (code),
  month         date not null check (extract(day from month) = 1),
  member        text collate "C" not null,
  primary key (deployment_id, meter, month, member)
);
create index usage_meter_members_meter on usage_meter_members (meter, month);

-- Months that were over when events of theirs came in: their statements are to be compared. Whoever does deletes the row first
-- and then adds up, in one transaction; events that come meanwhile wait for the row and leave it anew.
create table late_usage (
  deployment_id uuid not null references cloud_deployments (id),
  month         date not null check (extract(day from month) = 1),
  received_at   timestamptz(3) not null,
  primary key (deployment_id, month)
);
create index late_usage_month on late_usage (month, deployment_id);
