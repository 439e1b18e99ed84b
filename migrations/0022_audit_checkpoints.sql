-- The chain of the audit log gets a key, which is not in the database: each link is vouched for by a MAC that only the
-- service can make. The hashes stay as they are, so that heads noted earlier still fit.
alter table audit_seals
  -- Which key the MAC was made with. Links of earlier versions have neither.
  add column key_id     text,
  add column mac        text,
  -- The checkpoint that was made of this link; the MAC covers it, so that a checkpoint that is deleted is missed.
  add column checkpoint bigint,
  add constraint audit_seals_mac_and_key check ((key_id is null) = (mac is null));
create index audit_seals_checkpoint on audit_seals (checkpoint) where checkpoint is not null;

-- Where the chain stood at a time, signed. Each names the one before it, and is published outside of the database.
create table audit_checkpoints (
  number       bigint primary key check (number > 0),
  seq          bigint not null check (seq > 0),
  hash         text not null check (hash ~ '^[0-9a-f]{64}$'),
  at           timestamptz(3) not null,
  -- How many of the first links were made before the chain had a key.
  unkeyed      bigint not null,
  -- The SHA-256 of the checkpoint before it; 64 zeros for the first.
  previous     text not null check (previous ~ '^[0-9a-f]{64}$'),
  key_id       text not null,
  signature    text not null,
  -- When it was put into a storage backend.
  published_at timestamptz(3)
);
create index audit_checkpoints_unpublished on audit_checkpoints (number) where published_at is null;
create trigger append_only before delete or update of number, seq, hash, at, unkeyed, previous, key_id, signature
  on audit_checkpoints for each row execute function refuse_change();
create trigger append_only_whole before truncate on audit_checkpoints
  for each statement execute function refuse_change();

-- One row in a database that was in use before the chain had a key: how many entries there were, and the newest of them.
-- The first checkpoint takes the links of these as they stand. A database that began with a key has no row, and takes none.
create table audit_unkeyed (entries bigint primary key, newest uuid);
insert into audit_unkeyed
select (select count(*) from audit_log), (select id from audit_log order by id desc limit 1)
where exists (select from scheduled_tasks);

-- A node of the version before seals without a key, and knows nothing of the columns that entries have by now. Its links of
-- newer entries, and all behind a link with a key, are passed over without a word: the entries stay as they are, for a node
-- that has the key.
create function pass_over_unkeyed() returns trigger language plpgsql as $$
begin
  if exists (select from public.audit_unkeyed where newest is null or newest < new.entry_id)
    or exists (select from public.audit_seals where seq < new.seq and mac is not null)
  then return null; end if;
  return new;
end
$$;
create trigger keyed before insert on audit_seals for each row
  when (new.mac is null) execute function pass_over_unkeyed();
