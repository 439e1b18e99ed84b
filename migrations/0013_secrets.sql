-- Secrets that the service keeps for its operators. Values are written and used, never shown.
create table secrets (
  -- By bytes, so that pages and prefixes mean the same on every database.
  name        text collate "C" primary key check (length(name) <= 128 and name ~ '^[a-z0-9_-]+(/[a-z0-9_-]+)?$'),
  -- Counts the values it has had.
  version     int not null check (version >= 1),
  -- AES-256-GCM under a key derived from SECRET_KEY; opens under this name alone.
  sealed      text not null check (sealed like 'v1.%'),
  -- Keyed, so that nobody who reads this table can try out what a short value might be.
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{16}$'),
  description text,
  created_at  timestamptz(3) not null,
  created_by  text not null,
  updated_at  timestamptz(3) not null,
  updated_by  text not null
);
