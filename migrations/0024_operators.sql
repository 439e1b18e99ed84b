-- Whose an API key is, and what the newest token of that user says: the key may no more than both (0005 has what the key was
-- given when it was made). Null on keys of the version before, until a token of their owner is seen.
alter table api_keys
  add column owner_tenant   text,
  add column owner_roles    text[],
  add column owner_token_at timestamptz(3);

-- Who holds billing actions off, since when and why. No constraint binds them to the flag: the version before, which runs
-- beside this one during an upgrade, sets and clears the flag alone.
alter table cloud_deployments
  add column billing_action_suspended_by     text,
  add column billing_action_suspended_at     timestamptz(3),
  add column billing_action_suspended_reason text;

-- Of flags that are set already the audit log knows who and when.
update cloud_deployments d set billing_action_suspended_by = a.actor, billing_action_suspended_at = a.at
from (
  select distinct on (l.subject_id) l.subject_id, l.actor, l.at
  from cloud_deployments f join audit_log l on l.subject_id = f.id::text
  where f.billing_action_suspended and l.subject_type = 'cloud_deployments'
    and l.after ->> 'billing_action_suspended' = 'true'
  order by l.subject_id, l.id desc) a
where d.id::text = a.subject_id;

-- As in 0016, and billing actions are held off while the flag is set, in the same write: a flag that is set meanwhile comes
-- before the move and stops it, or after it. Which states it may leave, and whether it is a billing action, is the caller's
-- to say. The version before calls the function of 0016.
create function move_deployment(
  acting text, deployment uuid, tenant text, from_states text[], to_state text, billing_action boolean, follow text,
  event uuid, actor text, actor_role text, reason text, at timestamptz,
  out from_state text, out held boolean, out d cloud_deployments
) language plpgsql as $$
begin
  select state, billing_action_suspended into from_state, held from cloud_deployments
  where id = deployment and (tenant is null or tenant_id = tenant);
  if from_state is null or from_state <> all (from_states) or (held and billing_action) then return; end if;
  perform set_config('cloudops.actor', acting, true);
  update cloud_deployments set state = to_state, updated_at = at
  where id = deployment and state = from_state and not (billing_action and billing_action_suspended)
  returning * into d;
  if not found then
    select billing_action_suspended into held from cloud_deployments where id = deployment;
    return;
  end if;
  insert into cloud_deployment_events values
    (event, deployment, from_state, to_state, actor, actor_role, reason, at);
  if follow is not null then
    update subscriptions set status = follow, updated_at = at
    where deployment_id = deployment and status not in ('cancelled', follow);
  end if;
end
$$;

-- As in 0015, with the columns above.
create or replace function tell_of_deployment_events() returns trigger language plpgsql as $$
begin
  if not exists (select from public.webhooks where enabled and events && array['*', 'deployment.*', 'deployment.transitioned'])
  then return null; end if;
  insert into public.webhook_events (id, type, tenant_id, occurred_at, data)
  select public.uuid_v7(), 'deployment.transitioned', d.tenant_id, e.created_at, json_build_object(
    'tenant_id', d.tenant_id,
    'deployment', json_build_object(
      'id', d.id, 'tenant_id', d.tenant_id, 'slug', d.slug, 'display_name', d.display_name, 'region', d.region,
      'state', d.state, 'llm_mode', d.llm_mode, 'billing_action_suspended', d.billing_action_suspended,
      'billing_action_suspended_by', d.billing_action_suspended_by,
      'billing_action_suspended_at', public.iso8601(d.billing_action_suspended_at),
      'billing_action_suspended_reason', d.billing_action_suspended_reason,
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
