-- Terms with dates: which plan version a subscription had when, and when each of its addons held. A month is priced by the
-- rows that held in it, whatever becomes of the subscription later.
create table subscription_terms (
  id              uuid primary key,
  subscription_id uuid not null references subscriptions (id),
  plan_version_id uuid not null references plan_versions (id),
  valid_from      timestamptz(3) not null,
  -- The first moment they no longer hold; none: they hold. Two changes in one moment leave a row that never held.
  valid_to        timestamptz(3) check (valid_to >= valid_from),
  -- As for resource_prices: the embedded engine has no equality inside such a constraint, so the subscription is compared
  -- as a point on the line of its hash.
  constraint subscription_terms_no_overlap exclude using gist (
    int8range(uuid_hash_extended(subscription_id, 0), uuid_hash_extended(subscription_id, 0), '[]') with &&,
    tstzrange(valid_from, valid_to) with &&)
);
create unique index subscription_terms_one_open on subscription_terms (subscription_id) where valid_to is null;
create index subscription_terms_subscription on subscription_terms (subscription_id, valid_from);
create index subscription_terms_plan_version on subscription_terms (plan_version_id);

-- An addon may be attached again when it has ended. The default is for the release before, which knows no dates.
alter table subscription_addons
  add column valid_from timestamptz(3) not null default now(),
  add column valid_to timestamptz(3) check (valid_to >= valid_from);
update subscription_addons set valid_from = created_at;
alter table subscription_addons drop constraint subscription_addons_subscription_id_code_key;
alter table subscription_addons add constraint subscription_addons_no_overlap exclude using gist (
  int8range(
    hashtextextended(subscription_id::text || chr(31) || code, 0),
    hashtextextended(subscription_id::text || chr(31) || code, 0), '[]') with &&,
  tstzrange(valid_from, valid_to) with &&);
create index subscription_addons_subscription on subscription_addons (subscription_id, code);

-- Keeps the terms in step with the subscription's row, by the time its writer gives: for a signup, for a change of version,
-- for move_deployment when it cancels, and for the release before, which writes none of this itself.
create function keep_subscription_terms() returns trigger language plpgsql as $$
declare
  since timestamptz := new.updated_at;
begin
  -- A writer whose clock is a little behind does not reach back before what it ends.
  update subscription_terms set valid_to = greatest(valid_from, since)
  where subscription_id = new.id and valid_to is null returning valid_to into since;
  if new.status <> 'cancelled' then
    insert into subscription_terms (id, subscription_id, plan_version_id, valid_from)
    values (uuid_v7(), new.id, new.plan_version_id, coalesce(since, new.updated_at));
  end if;
  return null;
end
$$;
create trigger terms_begin after insert on subscriptions
  for each row execute function keep_subscription_terms();
create trigger terms_change after update of plan_version_id, status on subscriptions
  for each row when (old.plan_version_id <> new.plan_version_id or (old.status = 'cancelled') <> (new.status = 'cancelled'))
  execute function keep_subscription_terms();

-- Nobody writes subscriptions between here and the triggers above: making them has locked the table. Which versions a
-- subscription had before is not on record.
insert into subscription_terms (id, subscription_id, plan_version_id, valid_from, valid_to)
select uuid_v7(), s.id, s.plan_version_id, s.created_at, case when s.status = 'cancelled' then greatest(s.created_at, coalesce(
  (select min(e.created_at) from cloud_deployment_events e where e.deployment_id = s.deployment_id and e.to_state = 'cancelled'),
  s.updated_at)) end
from subscriptions s;

-- What held stays: of such a row its end alone is written, and once.
create function refuse_change_but_end() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.valid_to is null and to_jsonb(new) - 'valid_to' = to_jsonb(old) - 'valid_to' then
    return new;
  end if;
  raise exception 'what % says of a time that was stays so', tg_table_name using errcode = 'object_not_in_prerequisite_state';
end
$$;
create trigger ended_is_final before update or delete on subscription_terms
  for each row execute function refuse_change_but_end();
create trigger ended_is_final_whole before truncate on subscription_terms
  for each statement execute function refuse_change();
create trigger ended_is_final before update or delete on subscription_addons
  for each row execute function refuse_change_but_end();
create trigger ended_is_final_whole before truncate on subscription_addons
  for each statement execute function refuse_change();
