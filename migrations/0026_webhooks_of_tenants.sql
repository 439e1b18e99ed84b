-- Webhooks of tenants: whose a webhook is. None: the platform's own. A tenant's own hears of that tenant alone; the
-- platform's may be kept to one tenant as well, and stay the platform's.
alter table webhooks add column owner_tenant_id text check (length(owner_tenant_id) between 1 and 128);
alter table webhooks add constraint webhooks_owner_hears_of_itself
  check (owner_tenant_id is null or owner_tenant_id is not distinct from tenant_id);
create index webhooks_owner on webhooks (owner_tenant_id, id);

-- Drift of a resource that has changed hands since its desired state was written, or since the drift was found, tells what
-- another tenant wanted of it.
create function tells_of_former_tenant(type text, data json) returns boolean language sql stable
  return case when type in ('resource.drift_detected', 'drift.opened', 'drift.accepted', 'drift.stale') then exists (
    select from cloud_resource_events e left join cloud_provisioned p on p.resource_id = e.resource_id
    where e.resource_id = coalesce(data -> 'drift' ->> 'resource_id', data -> 'resource' ->> 'id')::uuid
      and e.changes ?| array['deployment_id', 'tenant_id'] and e.changes ? 'tenant_id' and e.kind <> 'drift_detected'
      and e.created_at > least(p.updated_at, (data -> 'drift' ->> 'detected_at')::timestamptz)) else false end;

-- As before, but a webhook that hears of one tenant is not told what was another's, and only webhooks that can want the
-- events are locked: there may be thousands, and each event is few tenants'.
create or replace function deliver_to_webhooks() returns trigger language plpgsql as $$
begin
  with listening as (
    select w as hook from public.webhooks w
    where w.enabled and (w.tenant_id is null
      or w.tenant_id = any(array(select distinct h.tenant_id from happened h where h.tenant_id is not null)))
    order by w.id for key share skip locked)
  insert into public.webhook_deliveries (id, webhook_id, event_id, created_at)
  select public.uuid_v7(), (l.hook).id, h.id, h.occurred_at
  from happened h join listening l on public.webhook_wants(l.hook, h.type, h.tenant_id)
  -- A test is for one webhook, which is named by whoever asks for it.
  where h.type <> 'webhook.test'
    and ((l.hook).tenant_id is null or not public.tells_of_former_tenant(h.type, h.data))
  order by h.id;
  return null;
end
$$;
