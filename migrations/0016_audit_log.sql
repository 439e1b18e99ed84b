-- The audit log: every write that a caller's request makes, with who made it and what was there before. A request's
-- transactions carry the caller in the setting `cloudops.actor`; where it is not set, nobody is acting, and the triggers
-- below do not even begin. What sweeps, sagas and ingests write is in their own logs.
create table audit_log (
  -- UUIDv7, with a counter behind the milliseconds: entries of one transaction sort in the order they were made.
  id              uuid primary key,
  at              timestamptz(3) not null,
  actor           text not null,
  actor_role      text,
  actor_tenant_id text,
  request_id      text not null,
  -- The operation's name in the API's description.
  operation       text not null,
  -- A table, or what else was acted on, and which of it.
  subject_type    text not null,
  subject_id      text not null,
  -- Whose the subject is, where its row says so.
  tenant_id       text,
  action          text not null check (action in ('created', 'updated', 'deleted', 'requested')),
  -- Of an update, only what changed.
  before          jsonb,
  after           jsonb
);
create index audit_log_actor on audit_log (actor, id);
create index audit_log_operation on audit_log (operation, id);
create index audit_log_subject_type on audit_log (subject_type, id);
create index audit_log_subject on audit_log (subject_id, id);
create index audit_log_tenant on audit_log (tenant_id, id);
create index audit_log_request on audit_log (request_id, id);
create trigger append_only before update or delete on audit_log
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_log
  for each statement execute function refuse_change();

-- The chain: each hash is made of the one before it and of the entry's text. Writers do not wait for each other's place in
-- it: entries are written without one, and a sealer gives the places out.
create table audit_seals (
  seq      bigint primary key check (seq > 0),
  entry_id uuid not null unique references audit_log (id),
  hash     text not null check (hash ~ '^[0-9a-f]{64}$')
);
create trigger append_only before update or delete on audit_seals
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_seals
  for each statement execute function refuse_change();

create sequence audit_order minvalue 0 maxvalue 4095 cycle;

-- An entry's id, of the milliseconds since 1970.
create function audit_id(millis bigint) returns uuid language sql volatile as $$
  select encode(
    int8send((millis << 16) | 28672 | nextval('audit_order')) || substring(uuid_send(gen_random_uuid()) from 9), 'hex')::uuid
$$;

-- Arguments, each a list of columns: the key; what changes along with every change, or by the runner's and the sweep's
-- hand, and is no change by itself; and secrets, whose values are in no entry, only that they have changed.
-- Little is done in steps and much in one statement, because every write of every caller pays for it.
create function audit_change() returns trigger language plpgsql as $$
declare
  unsaid text[] := string_to_array(concat_ws(' ', tg_argv[1], tg_argv[2]), ' ');
  secret text[];
  was jsonb;
  becomes jsonb;
  row jsonb;
  subject text;
begin
  if tg_op = 'INSERT' then
    becomes := to_jsonb(new) - unsaid;
    row := becomes;
  elsif tg_op = 'DELETE' then
    was := to_jsonb(old) - unsaid;
    row := was;
  else
    row := to_jsonb(new) - string_to_array(concat_ws(' ', tg_argv[1]), ' ');
    secret := string_to_array(concat_ws(' ', tg_argv[2]), ' ');
    select jsonb_object_agg(o.key, case when o.key = any (secret) then '"(hidden)"' else o.value end),
      jsonb_object_agg(o.key, case when o.key = any (secret) then '"(hidden, changed)"' else n.value end)
    into was, becomes
    from jsonb_each(to_jsonb(old)) o join jsonb_each(row) n on n.key = o.key where n.value <> o.value;
    if was is null then return null; end if;
  end if;
  subject := row ->> tg_argv[0];
  if subject is null then
    select string_agg(row ->> name, '/' order by nr) into subject
    from string_to_table(tg_argv[0], ' ') with ordinality as k (name, nr);
  end if;
  insert into audit_log
  select audit_id(millis), to_timestamp(millis / 1000.0), who ->> 'actor', who ->> 'role', who ->> 'tenant_id',
    who ->> 'request_id', who ->> 'operation', tg_table_name, subject, row ->> 'tenant_id',
    case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end, was, becomes
  from (
    select current_setting('cloudops.actor')::jsonb as who,
      floor(extract(epoch from clock_timestamp()) * 1000)::bigint as millis
    offset 0) acting;
  return null;
end
$$;

-- Every table that a caller's request writes as its subject.
create trigger audit after insert or update or delete on cloud_deployments for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'updated_at');
create trigger audit after insert or update or delete on subscriptions for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'updated_at');
create trigger audit after insert or update or delete on subscription_addons for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on plans for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'last_version');
create trigger audit after insert or update or delete on plan_versions for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on plan_items for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('plan_version_id resource_kind');
create trigger audit after insert or update or delete on addons for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'updated_at');
create trigger audit after insert or update or delete on resource_prices for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on cloud_projects for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on cloud_provisioned for each row
  when (current_setting('cloudops.actor', true) <> '')
  execute function audit_change('resource_id', 'updated_at attributes singles tags');
create trigger audit after insert or update or delete on cloud_drift for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on drift_ignore_rules for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on sync_runs for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on saga_runs for each row
  when (current_setting('cloudops.actor', true) <> '')
  execute function audit_change('id', 'job_id claim last_write heartbeat_at suspected_at');
create trigger audit after insert or update or delete on cloud_line_assignments for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('invoice_id line_key occurrence');
create trigger audit after insert or update or delete on scheduled_tasks for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('name');
create trigger audit after insert or update or delete on task_runs for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id');
create trigger audit after insert or update or delete on api_keys for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'last_used_at', 'key_hash');
create trigger audit after insert or update or delete on secrets for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('name', 'updated_at updated_by', 'sealed');
create trigger audit after insert or update or delete on storage_backends for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'updated_at', 'secret_access_key');
create trigger audit after insert or update or delete on webhooks for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'updated_at', 'secret previous_secret');

-- A deployment's move, as one call: read, and written only if it is still where it was read, with its event and what
-- follows for its subscription. Which states it may leave is the caller's to say. It answers the state it was in, and the
-- row as it is now; no row: it did not move. Each statement sees what was committed before it began: the last must see a
-- subscription that was being made while the move waited for it.
create function move_deployment(
  acting text, deployment uuid, tenant text, from_states text[], to_state text, follow text,
  event uuid, actor text, actor_role text, reason text, at timestamptz,
  out from_state text, out d cloud_deployments
) language plpgsql as $$
begin
  select state into from_state from cloud_deployments
  where id = deployment and (tenant is null or tenant_id = tenant);
  if from_state is null or from_state <> all (from_states) then return; end if;
  perform set_config('cloudops.actor', acting, true);
  update cloud_deployments set state = to_state, updated_at = at
  where id = deployment and state = from_state returning * into d;
  if not found then return; end if;
  insert into cloud_deployment_events values
    (event, deployment, from_state, to_state, actor, actor_role, reason, at);
  if follow is not null then
    update subscriptions set status = follow, updated_at = at
    where deployment_id = deployment and status not in ('cancelled', follow);
  end if;
end
$$;
