-- Answers to requests that carried an Idempotency-Key, kept for a day.
create table idempotency_keys (
  -- A hash of who is calling and with which rights, so that one caller's keys are never another's.
  caller       text not null,
  key          text not null,
  -- Of method, path and body: the same key with another request is a mistake.
  request_hash text not null,
  -- Which request works on it. One that was given up for dead finds another's claim, and leaves it alone.
  claim        uuid not null,
  started_at   timestamptz(3) not null,
  -- Null while the first request is still being worked on.
  finished_at  timestamptz(3),
  status       int,
  -- Headers and body, encrypted: an answer may hold a secret that is shown only once.
  answer       text,
  primary key (caller, key)
);
create index idempotency_keys_started on idempotency_keys (started_at);
