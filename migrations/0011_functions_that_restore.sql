-- Backups are restored with an empty search path, where a function kept as text does not find another one. These bodies are
-- parsed now, and the database keeps what they call by identity, and in order.

create or replace function drift_part(spec jsonb, way text) returns jsonb language sql immutable parallel safe
  return (select jsonb_object_agg(key, value) from jsonb_each(spec) where drift_check(key, value) = way);

create or replace function drift_tags(spec jsonb) returns text[] language sql immutable parallel safe
  return (
    select array(select distinct tag collate "C" from jsonb_array_elements_text(spec -> 'tags') as tag order by 1)
    where drift_check('tags', spec -> 'tags') = 'column');
