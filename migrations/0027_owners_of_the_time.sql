-- Whose a resource was when an event was written, a state desired and a drift opened: a resource that changes hands shows
-- its new tenant nothing from before.
alter table cloud_resource_events add column tenant_id text;
alter table cloud_provisioned add column tenant_id text;
alter table cloud_drift add column tenant_id text;

-- Where each resource changed hands, by its events. While it was deleted it may have done so untold (events of restored
-- resources did not say): that is assumed where others changed hands in that time. What was before is then not known, and
-- shown to operators alone.
create temporary table hands on commit drop as
with told as (
  select id, resource_id, created_at, changes -> 'tenant_id' as change from cloud_resource_events where changes ? 'tenant_id'
)
select resource_id, id, created_at, true as known, change ->> 'before' as before, change ->> 'after' as after from told
union all
select e.resource_id, e.id, e.created_at, false, null, null
from cloud_resource_events e
cross join lateral (
  select d.id from cloud_resource_events d
  where d.resource_id = e.resource_id and d.id < e.id and d.kind = 'deleted' order by d.id desc limit 1) gone
where e.kind = 'restored' and not coalesce(e.changes ? 'tenant_id', false)
  and exists (select from told t where t.id > gone.id and t.id < e.id);
create index on hands (resource_id, id);
analyze hands;

-- The owner at a point is who it was before the next change; without one, who it is. What the next change does not tell,
-- the last one before may.
alter table cloud_resource_events disable trigger append_only;
update cloud_resource_events e set tenant_id = o.tenant_id
from (
  select e.id, case when next.id is null then r.tenant_id when next.known then next.before else last.after end as tenant_id
  from cloud_resource_events e join cloud_resources r on r.id = e.resource_id
  left join lateral (
    select * from hands h where h.resource_id = e.resource_id and h.id > e.id order by h.id limit 1) next on true
  left join lateral (
    select * from hands h where h.resource_id = e.resource_id and h.id <= e.id order by h.id desc limit 1) last on true
) o where o.id = e.id and o.tenant_id is not null;
alter table cloud_resource_events enable trigger append_only;

update cloud_drift d set tenant_id = o.tenant_id
from (
  select d.id, case when next.id is null then r.tenant_id when next.known then next.before else last.after end as tenant_id
  from cloud_drift d join cloud_resources r on r.id = d.resource_id
  left join lateral (
    select * from hands h where h.resource_id = d.resource_id and h.id > d.id order by h.id limit 1) next on true
  left join lateral (
    select * from hands h where h.resource_id = d.resource_id and h.id <= d.id order by h.id desc limit 1) last on true
) o where o.id = d.id and o.tenant_id is not null;

update cloud_provisioned p set tenant_id = o.tenant_id
from (
  select p.resource_id,
    case when next.id is null then r.tenant_id when next.known then next.before else last.after end as tenant_id
  from cloud_provisioned p join cloud_resources r on r.id = p.resource_id
  left join lateral (
    select * from hands h where h.resource_id = p.resource_id and h.created_at > p.updated_at order by h.id limit 1) next on true
  left join lateral (
    select * from hands h where h.resource_id = p.resource_id and h.created_at <= p.updated_at order by h.id desc limit 1) last on true
) o where o.resource_id = p.resource_id and o.tenant_id is not null;

-- The version before does not name the column: its rows get the owner of the moment.
create function fill_tenant_of_resource() returns trigger language plpgsql as $$
begin
  select r.tenant_id into new.tenant_id from public.cloud_resources r where r.id = new.resource_id;
  return new;
end
$$;
alter table cloud_resource_events alter column tenant_id set default '';
alter table cloud_provisioned alter column tenant_id set default '';
alter table cloud_drift alter column tenant_id set default '';
create trigger fill_tenant before insert on cloud_resource_events
  for each row when (new.tenant_id = '') execute function fill_tenant_of_resource();
create trigger fill_tenant before insert on cloud_provisioned
  for each row when (new.tenant_id = '') execute function fill_tenant_of_resource();
create trigger fill_tenant before insert on cloud_drift
  for each row when (new.tenant_id = '') execute function fill_tenant_of_resource();

-- A tenant's events of a resource, newest first, past any number of others'.
create index cloud_resource_events_tenant on cloud_resource_events (tenant_id, resource_id, id desc);
create index cloud_provisioned_tenant on cloud_provisioned (tenant_id);
create index cloud_drift_tenant on cloud_drift (tenant_id);

-- What the event by which a resource came shows its new tenant: what is now, and nothing of what was.
create function changes_for_new_owner(changes jsonb) returns jsonb language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(key, jsonb_build_object('before', null, 'after', value -> 'after'))
    filter (where value -> 'after' <> 'null'), '{}') from jsonb_each(changes)
$$;

create or replace function tell_of_resource_events() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'resource.*', 'resource.discovered',
      'resource.updated', 'resource.deleted', 'resource.restored', 'resource.drift_detected', 'resource.tagged'])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'resource.' || e.kind, o.tenant_id, e.created_at, json_build_object(
    'tenant_id', r.tenant_id,
    'resource', json_build_object(
      'id', r.id, 'provider', r.provider, 'provider_id', r.provider_id, 'kind', r.kind, 'name', r.name,
      'region', r.region, 'status', r.status, 'tenant_id', r.tenant_id, 'project_id', r.project_id,
      'deployment_id', r.deployment_id, 'tags', r.tags, 'attrs', r.attrs, 'first_seen_at', public.iso8601(r.first_seen_at),
      'last_seen_at', public.iso8601(r.last_seen_at), 'stale_strike_count', r.stale_strike_count,
      'deleted_at', public.iso8601(r.deleted_at)),
    'event', json_build_object(
      'id', e.id, 'kind', e.kind, 'resource_id', e.resource_id, 'changes', e.changes, 'actor', e.actor,
      'created_at', public.iso8601(e.created_at)))
  from happened e join public.cloud_resources r on r.id = e.resource_id
  -- What is told of the resource as it is now must not be told together with what another tenant had.
  cross join lateral (select case when r.tenant_id = e.tenant_id then e.tenant_id end as tenant_id) o
  where exists (select from public.webhooks w where public.webhook_wants(w, 'resource.' || e.kind, o.tenant_id));
  return null;
end
$$;

create or replace function tell_of_open_drift() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'drift.*', 'drift.opened'])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'drift.opened', o.tenant_id, d.detected_at, public.drift_for_webhooks(d, r)
  from happened h join public.cloud_drift d on d.id = h.id join public.cloud_resources r on r.id = d.resource_id
  cross join lateral (select case when r.tenant_id = d.tenant_id then d.tenant_id end as tenant_id) o
  where d.status = 'open' and exists (select from public.webhooks w where public.webhook_wants(w, 'drift.opened', o.tenant_id));
  return null;
end
$$;

create or replace function tell_of_closed_drift() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'drift.*', 'drift.' || new.status])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'drift.' || new.status, o.tenant_id, new.resolved_at, public.drift_for_webhooks(new, r)
  from public.cloud_resources r
  cross join lateral (select case when r.tenant_id = new.tenant_id then new.tenant_id end as tenant_id) o
  where r.id = new.resource_id
    and exists (select from public.webhooks w where public.webhook_wants(w, 'drift.' || new.status, o.tenant_id));
  return null;
end
$$;
