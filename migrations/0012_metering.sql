-- Metering: how long resources of each kind lived for each deployment, hour by hour.

-- The hours that are done, those in which nothing lived too. Whoever writes an hour here meters it: nobody else can.
create table metered_hours (
  hour       timestamptz(3) primary key check (extract(epoch from hour)::bigint % 3600 = 0),
  metered_at timestamptz(3) not null
);

-- A row only where something lived. Written in the transaction that writes the hour above.
create table usage_hours (
  deployment_id uuid not null references cloud_deployments (id),
  hour          timestamptz(3) not null,
  kind          text not null,
  -- Of all resources of the kind together.
  seconds       bigint not null check (seconds > 0),
  resources     int not null check (resources > 0),
  -- With the seconds in it, a month of a deployment is read from a few pages of the index alone.
  primary key (deployment_id, hour, kind) include (seconds),
  check (seconds <= resources * 3600::bigint)
);

-- What was metered is what is charged: it stays as it is.
create trigger append_only before update or delete on metered_hours
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on metered_hours
  for each statement execute function refuse_change();
create trigger append_only before update or delete on usage_hours
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on usage_hours
  for each statement execute function refuse_change();

-- What has changed since an hour in whether a resource lives and whose it is: few of all events, found by their time.
create index cloud_resource_events_lives on cloud_resource_events (created_at, resource_id)
  where kind in ('deleted', 'restored') or changes ? 'deployment_id';
