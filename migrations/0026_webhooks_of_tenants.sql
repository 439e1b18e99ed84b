-- Webhooks of tenants: whose a webhook is. None: the platform's own. A tenant's own hears of that tenant alone; the
-- platform's may be kept to one tenant as well, and stay the platform's.
alter table webhooks add column owner_tenant_id text check (length(owner_tenant_id) between 1 and 128);
alter table webhooks add constraint webhooks_owner_hears_of_itself
  check (owner_tenant_id is null or owner_tenant_id is not distinct from tenant_id);
create index webhooks_owner on webhooks (owner_tenant_id, id);

-- As before, but only webhooks that can want the events are locked: there may be thousands, and each event is few
-- tenants'.
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
  order by h.id;
  return null;
end
$$;
