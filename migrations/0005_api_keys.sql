-- Per-user API keys. The key itself is never stored, only a hash of it.
create table api_keys (
  id             uuid primary key,
  user_id        text not null check (length(user_id) between 1 and 128),
  -- What the key acts as: the tenant and roles given to it when it was made.
  tenant_id      text,
  roles          text[] not null,
  -- How a key is found again; the hash then says whether it is the same one. Neither column can hold a whole key.
  key_prefix     text not null unique check (key_prefix ~ '^[0-9A-Za-z]{8}$'),
  key_hash       text not null check (key_hash ~ '^[0-9a-f]{64}$'),
  description    text,
  -- The key that this one was made to replace; a key is replaced once.
  replaces       uuid unique references api_keys (id),
  created_at     timestamptz(3) not null,
  created_by     text not null,
  last_used_at   timestamptz(3),
  expires_at     timestamptz(3),
  revoked_at     timestamptz(3),
  revoked_by     text,
  revoked_reason text,
  -- A key that is neither a tenant's nor a platform_admin's could do nothing.
  constraint api_keys_act_as_someone check (tenant_id is not null or 'platform_admin' = any (roles))
);
create index api_keys_user on api_keys (user_id, id desc);
create index api_keys_tenant on api_keys (tenant_id);
