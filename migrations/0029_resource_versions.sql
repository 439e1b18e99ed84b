-- How each resource was, and from when to when: one row from each event that changes it to the next. Whose a resource was
-- in a month, and whether it lived, is read here.
create table resource_versions (
  resource_id   uuid not null references cloud_resources (id),
  -- The event that began it.
  event_id      uuid not null,
  valid_from    timestamptz(3) not null,
  -- The first moment it no longer held; none: it holds. Two events in one moment leave a version that never held.
  valid_to      timestamptz(3) check (valid_to >= valid_from),
  kind          text not null,
  name          text not null,
  region        text,
  status        text,
  tenant_id     text,
  project_id    uuid,
  deployment_id uuid,
  tags          text[] not null,
  attrs         jsonb not null,
  deleted_at    timestamptz(3),
  -- With the owners in it, whose a resource was is read from the index alone.
  primary key (resource_id, valid_from, event_id) include (valid_to, tenant_id, deployment_id)
);
create unique index resource_versions_one_open on resource_versions (resource_id) where valid_to is null;
create index resource_versions_tenant on resource_versions (tenant_id, valid_from);
-- What lived for a deployment in some hours: what has not ended before them.
create index resource_versions_lived on resource_versions (valid_to) where deployment_id is not null and deleted_at is null;

create trigger ended_is_final before update or delete on resource_versions
  for each row execute function refuse_change_but_end();
create trigger ended_is_final_whole before truncate on resource_versions
  for each statement execute function refuse_change();

-- What there is already, from the events. Nobody writes resources until this is done.
lock table cloud_resources, cloud_resource_events in share row exclusive mode;

-- Where each resource changed, numbered, and how what changed was before. A resource begins when it was first seen, whether
-- or not an event says so, and ends when it was deleted.
create temporary table turns on commit drop as
select t.resource_id, t.event_id, t.kind, t.at,
  row_number() over (partition by resource_id order by kind <> 'discovered', at, event_id)::int as n,
  case t.kind when 'deleted' then true when 'restored' then false end as lived_before,
  (select jsonb_object_agg(key, value -> 'before') from jsonb_each(t.changes) where key not like 'attrs.%') as fields_before,
  (select jsonb_object_agg(substr(key, 7), value -> 'before') from jsonb_each(t.changes) where key like 'attrs.%') as attrs_before
from (
  select r.id as resource_id, coalesce(d.id, uuid_v7()) as event_id, 'discovered' as kind, null::jsonb as changes, r.first_seen_at as at
  from cloud_resources r left join lateral (
    select e.id from cloud_resource_events e
    where e.resource_id = r.id and e.kind = 'discovered' order by e.id limit 1) d on true
  union all
  select e.resource_id, e.id, e.kind, e.changes, greatest(e.created_at, r.first_seen_at)
  from cloud_resource_events e join cloud_resources r on r.id = e.resource_id
  where e.kind in ('updated', 'deleted', 'restored')
  union all
  select r.id, uuid_v7(), 'deleted', null, greatest(r.deleted_at, r.first_seen_at)
  from cloud_resources r
  where r.deleted_at is not null and not exists (
    select from cloud_resource_events e where e.resource_id = r.id and e.kind = 'deleted' and e.created_at = r.deleted_at)
) t;
create unique index on turns (resource_id, n);
analyze turns;

-- The row says how a resource is since its last turn; before it, what the turn changed was otherwise. And so on, back to the
-- first. The fence (offset 0) makes the planner look each turn up: it would read all of them again at every step back.
insert into resource_versions (resource_id, event_id, valid_from, valid_to, kind, name, region, status, tenant_id, project_id,
  deployment_id, tags, attrs, deleted_at)
with recursive version as (
  select r.id as resource_id, last.n, r.deleted_at is null as lives, r.attrs, jsonb_build_object('name', r.name,
    'region', r.region, 'status', r.status, 'tags', r.tags, 'tenant_id', r.tenant_id, 'project_id', r.project_id,
    'deployment_id', r.deployment_id) as fields
  from cloud_resources r join (select resource_id, max(n) as n from turns group by resource_id) last on last.resource_id = r.id
  union all
  select v.resource_id, v.n - 1, coalesce(t.lived_before, v.lives), v.attrs || coalesce(t.attrs_before, '{}'),
    v.fields || coalesce(t.fields_before, '{}')
  from version v cross join lateral (select * from turns t where t.resource_id = v.resource_id and t.n = v.n offset 0) t
  where v.n > 1
)
select v.resource_id, t.event_id, t.at, next.at, r.kind, f.name, f.region, f.status, f.tenant_id, f.project_id, f.deployment_id,
  f.tags, v.attrs, case when not v.lives then coalesce((
    select max(d.at) from turns d where d.resource_id = v.resource_id and d.n <= v.n and d.kind = 'deleted'), t.at) end
from version v
join cloud_resources r on r.id = v.resource_id
join turns t on t.resource_id = v.resource_id and t.n = v.n
left join turns next on next.resource_id = v.resource_id and next.n = v.n + 1
cross join lateral jsonb_to_record(v.fields) f (name text, region text, status text, tenant_id text, project_id uuid,
  deployment_id uuid, tags text[]);
analyze resource_versions;
