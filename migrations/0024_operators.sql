-- Whose an API key is, and what the newest token of that user says: the key may no more than both (0005 has what the key was
-- given when it was made). Null on keys of the version before, until a token of their owner is seen.
alter table api_keys
  add column owner_tenant   text,
  add column owner_roles    text[],
  add column owner_token_at timestamptz(3);
