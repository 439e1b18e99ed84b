-- Terms and addons may begin and end on a day to come, and such a day may be moved or called off: its row then ends before it
-- has begun, and never held. What counted for an hour that is metered stays.
create function refuse_change_of_metered_terms() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'valid_to' = to_jsonb(old) - 'valid_to' then
    if old.valid_to is null or not exists (
      select from metered_hours where hour > least(old.valid_to, new.valid_to) - interval '1 hour'
    ) then
      return new;
    end if;
  end if;
  raise exception 'what % says of a time that was stays so', tg_table_name using errcode = 'object_not_in_prerequisite_state';
end
$$;
drop trigger ended_is_final on subscription_terms;
create trigger ended_is_final before update or delete on subscription_terms
  for each row execute function refuse_change_of_metered_terms();
drop trigger ended_is_final on subscription_addons;
create trigger ended_is_final before update or delete on subscription_addons
  for each row execute function refuse_change_of_metered_terms();
