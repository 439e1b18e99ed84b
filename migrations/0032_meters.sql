-- Meters: usage that is told by events rather than seen in the inventory. What a meter adds up, how and by what scale it is
-- charged stays as it is, for months are priced by it; its name may change.
create table meters (
  code        text collate "C" primary key check (code ~ '^[a-z][a-z0-9_]{0,62}$'),
  name        text not null,
  aggregation text not null check (aggregation in ('sum', 'max', 'last', 'unique')),
  unit        text not null,
  -- So many units are one of what plans include and prices are for.
  scale       bigint not null check (scale > 0),
  created_at  timestamptz(3) not null
);

create function refuse_change_but_name() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'name' = to_jsonb(old) - 'name' then
    return new;
  end if;
  raise exception 'of meter % nothing but the name changes', old.code using errcode = 'object_not_in_prerequisite_state';
end
$$;
create trigger name_alone_changes before update or delete on meters
  for each row execute function refuse_change_but_name();
create trigger name_alone_changes_whole before truncate on meters
  for each statement execute function refuse_change();
