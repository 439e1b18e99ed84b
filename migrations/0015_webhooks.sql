-- Webhooks: who wants to hear of what, the outbox of events, and every delivery with its attempts.
create table webhooks (
  id                         uuid primary key,
  url                        text not null,
  -- Types (`drift.opened`), families (`drift.*`), or `*`.
  events                     text[] not null check (cardinality(events) > 0),
  description                text,
  -- Only events of this tenant; none: of all, and of none.
  tenant_id                  text check (length(tenant_id) between 1 and 128),
  enabled                    boolean not null,
  -- Why the service itself switched it off.
  disabled_reason            text,
  -- Encrypted. The previous one signs too until its time is over.
  secret                     text not null,
  previous_secret            text,
  previous_secret_expires_at timestamptz(3),
  created_by                 text not null,
  created_at                 timestamptz(3) not null,
  updated_at                 timestamptz(3) not null,
  check ((previous_secret is null) = (previous_secret_expires_at is null))
);
create index webhooks_tenant on webhooks (tenant_id, id);

-- What happened and somebody wants to hear: written by the triggers below, in the transaction that made it happen. The id
-- is what receivers know an event by, however often it is sent.
create table webhook_events (
  id          uuid primary key,
  type        text not null,
  tenant_id   text,
  occurred_at timestamptz(3) not null,
  -- Kept as it was written: what is sent and signed is the same text each time.
  data        json not null
);
create index webhook_events_tenant on webhook_events (tenant_id);
-- Old ones are deleted by age.
create index webhook_events_occurred on webhook_events (occurred_at);

create table webhook_deliveries (
  id          uuid primary key,
  webhook_id  uuid not null references webhooks (id) on delete cascade,
  event_id    uuid not null references webhook_events (id) on delete cascade,
  status      text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- Counted when an attempt is begun.
  attempts    int not null default 0,
  -- Before its first attempt the beginning of time, for the clocks of the database and of a worker may differ. While it is
  -- being sent, when its worker must be dead.
  due_at      timestamptz(3) not null default 'epoch',
  -- Who is sending it.
  claim       uuid,
  created_at  timestamptz(3) not null,
  finished_at timestamptz(3),
  check ((status = 'pending') = (finished_at is null))
);
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_status on webhook_deliveries (webhook_id, status, id);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at, id) where status = 'pending';

create table webhook_attempts (
  delivery_id   uuid not null references webhook_deliveries (id) on delete cascade,
  number        int not null,
  started_at    timestamptz(3) not null,
  duration_ms   int not null,
  status_code   int,
  error         text,
  -- The beginning of the answer's body.
  response_body text,
  primary key (delivery_id, number)
);

-- Whether this webhook is to hear of such an event.
create function webhook_wants(hook webhooks, type text, tenant text) returns boolean language sql stable
  return hook.enabled and (hook.tenant_id is null or hook.tenant_id = tenant)
    and hook.events && array['*', type, split_part(type, '.', 1) || '.*'];

-- Triggers may fire where there is no search path (a restore of data alone), so their bodies write names out in full.

-- A delivery for each webhook that wants the event. Of a webhook that is being deleted nobody waits to hear, and nobody
-- fails over it: what is locked against its references is passed over.
create function deliver_to_webhooks() returns trigger language plpgsql as $$
begin
  with listening as (select w as hook from public.webhooks w where w.enabled order by w.id for key share skip locked)
  insert into public.webhook_deliveries (id, webhook_id, event_id, created_at)
  select public.uuid_v7(), (l.hook).id, h.id, h.occurred_at
  from happened h join listening l on public.webhook_wants(l.hook, h.type, h.tenant_id)
  -- A test is for one webhook, which is named by whoever asks for it.
  where h.type <> 'webhook.test'
  order by h.id;
  return null;
end
$$;
create trigger deliver after insert on webhook_events
  referencing new table as happened for each statement execute function deliver_to_webhooks();

-- Each of the following asks first whether anyone wants to hear of such things at all. Mostly nobody does, and then that
-- is all it costs.

create function tell_of_deployment_events() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'deployment.*', 'deployment.transitioned'])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'deployment.transitioned', d.tenant_id, e.created_at, json_build_object(
    'tenant_id', d.tenant_id,
    'deployment', json_build_object(
      'id', d.id, 'tenant_id', d.tenant_id, 'slug', d.slug, 'display_name', d.display_name, 'region', d.region,
      'state', d.state, 'llm_mode', d.llm_mode, 'billing_action_suspended', d.billing_action_suspended,
      'template_code', d.template_code, 'template_version', d.template_version,
      'created_at', public.iso8601(d.created_at), 'updated_at', public.iso8601(d.updated_at)),
    'event', json_build_object(
      'id', e.id, 'deployment_id', e.deployment_id, 'from_state', e.from_state, 'to_state', e.to_state,
      'actor', e.actor, 'actor_role', e.actor_role, 'reason', e.reason, 'created_at', public.iso8601(e.created_at)))
  from happened e join public.cloud_deployments d on d.id = e.deployment_id
  where exists (select from public.webhooks w where public.webhook_wants(w, 'deployment.transitioned', d.tenant_id));
  return null;
end
$$;
create trigger tell_webhooks after insert on cloud_deployment_events
  referencing new table as happened for each statement execute function tell_of_deployment_events();

create function tell_of_resource_events() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'resource.*', 'resource.discovered',
      'resource.updated', 'resource.deleted', 'resource.restored', 'resource.drift_detected', 'resource.tagged'])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'resource.' || e.kind, r.tenant_id, e.created_at, json_build_object(
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
  where exists (select from public.webhooks w where public.webhook_wants(w, 'resource.' || e.kind, r.tenant_id));
  return null;
end
$$;
create trigger tell_webhooks after insert on cloud_resource_events
  referencing new table as happened for each statement execute function tell_of_resource_events();

create function drift_for_webhooks(d cloud_drift, r cloud_resources) returns json language sql stable
  return json_build_object(
    'tenant_id', r.tenant_id,
    'drift', json_build_object(
      'id', d.id, 'resource_id', d.resource_id, 'kind', d.kind, 'name', r.name, 'provider_id', r.provider_id,
      'tenant_id', r.tenant_id, 'deployment_id', r.deployment_id, 'resource_deleted_at', iso8601(r.deleted_at),
      'field', d.field, 'desired', d.desired, 'actual', d.actual, 'status', d.status,
      'detected_at', iso8601(d.detected_at), 'last_detected_at', iso8601(d.last_detected_at),
      'resolved_at', iso8601(d.resolved_at), 'resolved_by', d.resolved_by));

create function tell_of_open_drift() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'drift.*', 'drift.opened'])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'drift.opened', r.tenant_id, d.detected_at, public.drift_for_webhooks(d, r)
  from happened h join public.cloud_drift d on d.id = h.id join public.cloud_resources r on r.id = d.resource_id
  where d.status = 'open' and exists (select from public.webhooks w where public.webhook_wants(w, 'drift.opened', r.tenant_id));
  return null;
end
$$;
create trigger tell_webhooks after insert on cloud_drift
  referencing new table as happened for each statement execute function tell_of_open_drift();

-- The following are for each row, with a condition: the sweep rewrites open drift every hour and the runner a saga at every
-- step, and neither is to pay for more than a comparison.

create function tell_of_closed_drift() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'drift.*', 'drift.' || new.status])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'drift.' || new.status, r.tenant_id, new.resolved_at, public.drift_for_webhooks(new, r)
  from public.cloud_resources r
  where r.id = new.resource_id
    and exists (select from public.webhooks w where public.webhook_wants(w, 'drift.' || new.status, r.tenant_id));
  return null;
end
$$;
create trigger tell_webhooks_of_end after update of status on cloud_drift
  for each row when (old.status = 'open' and new.status in ('accepted', 'stale'))
  execute function tell_of_closed_drift();

create function tell_of_saga_end() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'saga.*', 'saga.' || new.status])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'saga.' || new.status, new.tenant_id, new.finished_at, json_build_object(
    'tenant_id', new.tenant_id,
    'saga', json_build_object(
      'id', new.id, 'kind', new.kind, 'status', new.status, 'tenant_id', new.tenant_id,
      'deployment_id', new.deployment_id, 'step_modules', new.step_modules,
      'current_step_index', new.current_step_index, 'cancel_requested', new.cancel_requested, 'error', new.error,
      'created_at', public.iso8601(new.created_at), 'started_at', public.iso8601(new.started_at),
      'finished_at', public.iso8601(new.finished_at)))
  where exists (select from public.webhooks w where public.webhook_wants(w, 'saga.' || new.status, new.tenant_id));
  return null;
end
$$;
create trigger tell_webhooks after update of status on saga_runs
  for each row when (new.status in ('completed', 'failed', 'rolled_back') and old.finished_at is null)
  execute function tell_of_saga_end();

create function tell_of_invoice() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'invoice.*', tg_argv[0]])
  then return null; end if;
  -- An invoice is the platform's: its lines are the tenants'.
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), tg_argv[0], null, new.updated_at, json_build_object(
    'tenant_id', null,
    'invoice', json_build_object(
      'id', new.id, 'provider', new.provider, 'invoice_uuid', new.invoice_uuid, 'invoice_number', new.invoice_number,
      'period', new.period, 'amount', new.amount::text, 'currency', new.currency, 'ingest_status', new.ingest_status,
      'ingest_error', new.ingest_error, 'ingested_at', public.iso8601(new.ingested_at), 'line_count', new.line_count,
      'lines_amount', new.lines_amount::text, 'amount_net_minor', new.amount_net_minor,
      'amount_tax_minor', new.amount_tax_minor, 'reconciled', new.reconciled, 'sha256', new.sha256,
      'pushed_to_finance_at', public.iso8601(new.pushed_to_finance_at), 'finance_invoice_id', new.finance_invoice_id,
      'finance_action', new.finance_action, 'finance_error', new.finance_error))
  where exists (select from public.webhooks w where public.webhook_wants(w, tg_argv[0], null));
  return null;
end
$$;
create trigger tell_webhooks_of_ingest after update of ingest_status on cloud_invoices
  for each row when (new.ingest_status = 'ingested'
    and (old.ingest_status <> 'ingested' or old.ingest_count <> new.ingest_count))
  execute function tell_of_invoice('invoice.ingested');
-- The same failure is told once, however often it is met.
create trigger tell_webhooks_of_failure after update of ingest_status on cloud_invoices
  for each row when (new.ingest_status = 'failed'
    and (old.ingest_status <> 'failed' or old.ingest_error is distinct from new.ingest_error))
  execute function tell_of_invoice('invoice.ingest_failed');
-- A receipt: it alone names the lines that finance has.
create trigger tell_webhooks_of_push after update of pushed_lines_hash on cloud_invoices
  for each row when (new.pushed_lines_hash <> '' and new.pushed_lines_hash is distinct from old.pushed_lines_hash)
  execute function tell_of_invoice('invoice.pushed');
