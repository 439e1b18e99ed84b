-- Browser sessions. The cookie names one and is signed; the token that it stands for is kept here, encrypted, and gone when
-- the session is ended. So a session ends on every node at once.
create table sessions (
  id         uuid primary key,
  user_id    text not null,
  tenant_id  text,
  -- Encrypted.
  token      text,
  created_at timestamptz(3) not null,
  -- The token's own.
  expires_at timestamptz(3) not null,
  ended_at   timestamptz(3),
  constraint sessions_token_until_ended check ((token is null) = (ended_at is not null))
);
create index sessions_expires on sessions (expires_at);
create index sessions_tenant on sessions (tenant_id);
create trigger audit after insert or update or delete on sessions for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', '', 'token');

-- By which credential and from where an entry's request came, and what the caller itself calls the request. Nodes of the
-- version before write entries without them.
alter table audit_log
  add column credential_kind   text check (credential_kind in ('token', 'session', 'api_key')),
  add column credential_id     text,
  add column address           text,
  add column client_request_id text;
-- None on the credential: every write of every caller would pay for it. With the actor, who has few, it is found at once.
create index audit_log_client_request on audit_log (client_request_id, id) where client_request_id is not null;

-- As in 0016, with the columns above.
create or replace function audit_change() returns trigger language plpgsql as $$
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
    case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end, was, becomes,
    who ->> 'credential_kind', who ->> 'credential_id', who ->> 'address', who ->> 'client_request_id'
  from (
    select current_setting('cloudops.actor')::jsonb as who,
      floor(extract(epoch from clock_timestamp()) * 1000)::bigint as millis
    offset 0) acting;
  return null;
end
$$;
