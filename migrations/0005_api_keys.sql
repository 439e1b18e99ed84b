-- Per-user API keys. The key itself is never stored, only a hash of it.
create table api_keys (
  id             uuid primary key,
  user_id        text not null check (length(user_id) between 1 and 128),
  -- What the key acts as: the tenant and roles of its user when it was made.
  tenant_id      text,
  roles          text[] not null,
  key_prefix     text not null unique,
  key_hash       text not null,
  description    text,
  created_at     timestamptz(3) not null,
  created_by     text not null,
  last_used_at   timestamptz(3),
  expires_at     timestamptz(3),
  revoked_at     timestamptz(3),
  revoked_by     text,
  revoked_reason text
);
create index api_keys_user on api_keys (user_id, id desc);
create index api_keys_tenant on api_keys (tenant_id);
