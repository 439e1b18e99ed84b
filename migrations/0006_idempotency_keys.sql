-- Answers to requests that carried an Idempotency-Key, kept for a day.
create table idempotency_keys (
  -- Tenant and user, so that one caller's keys are never another's.
  caller       text not null,
  key          text not null,
  -- Of method, path and body: the same key with another request is a mistake.
  request_hash text not null,
  started_at   timestamptz(3) not null,
  -- Null while the first request is still being worked on.
  finished_at  timestamptz(3),
  status       int,
  location     text,
  body         text,
  primary key (caller, key)
);
create index idempotency_keys_started on idempotency_keys (started_at);
