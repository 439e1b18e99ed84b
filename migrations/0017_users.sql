-- Who is known here beyond what a token says: roles and what they permit, users and their standing, invitations.

create table roles (
  -- In the order of its bytes, so that the role that is built in can be placed among the others without asking.
  name        text collate "C" primary key check (name ~ '^[a-z0-9_-]{1,64}$'),
  description text,
  permissions text[] not null,
  created_at  timestamptz(3) not null,
  updated_at  timestamptz(3) not null,
  -- The issuer alone makes platform_admins, and nothing here holds one back.
  constraint roles_not_built_in check (name <> 'platform_admin')
);

create table users (
  id           uuid primary key,
  -- The token's `sub`. In another tenant it is somebody else.
  user_id      text not null check (length(user_id) between 1 and 128),
  tenant_id    text not null check (length(tenant_id) between 1 and 128),
  email        text,
  display_name text,
  role         text collate "C" constraint users_role references roles (name),
  status       text not null check (status in ('active', 'suspended')),
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  constraint users_once unique (tenant_id, user_id)
);
create index users_user on users (user_id, id);
create index users_tenant on users (tenant_id, id);
create index users_role on users (role, id);
create index users_email on users (lower(email), id);
create index users_suspended on users (id) where status = 'suspended';

create table invitations (
  id          uuid primary key,
  email       text not null,
  tenant_id   text not null check (length(tenant_id) between 1 and 128),
  -- No reference: one that has ended does not keep its role from being deleted.
  role        text collate "C",
  -- The token itself is never stored.
  token_hash  text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  -- A pending one whose time is over counts as expired; it is written down when another takes its place.
  status      text not null check (status in ('pending', 'accepted', 'revoked', 'expired')),
  invited_by  text not null,
  expires_at  timestamptz(3) not null,
  created_at  timestamptz(3) not null,
  accepted_at timestamptz(3),
  accepted_by text,
  constraint invitations_accepted_by_someone
    check ((status = 'accepted') = (accepted_at is not null) and (accepted_at is null) = (accepted_by is null))
);
create unique index invitations_pending on invitations (tenant_id, lower(email)) where status = 'pending';
create index invitations_tenant on invitations (tenant_id, id);
create index invitations_email on invitations (lower(email), id);
create index invitations_status on invitations (status, id);
create index invitations_role on invitations (role) where status = 'pending';

-- What callers write here is in the audit log (0016).
create trigger audit after insert or update or delete on roles for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('name', 'updated_at');
create trigger audit after insert or update or delete on users for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', 'updated_at');
create trigger audit after insert or update or delete on invitations for each row
  when (current_setting('cloudops.actor', true) <> '') execute function audit_change('id', '', 'token_hash');
