-- Any combination of the inventory's filters finds its few rows without a walk past the many: every value that a list can
-- be filtered by is a key of one GIN index, which intersects them. The letter says which column a value is of; tags are a
-- column of their own, so that none can be taken for another's value. src/features/inventory/list-resources.ts has the
-- same expression. It replaces the index on the tags alone.
create index cloud_resources_facets on cloud_resources using gin ((array[
  'k' || kind, 'r' || region, 's' || status, 'p' || project_id::text, 'd' || deployment_id::text, 't' || tenant_id,
  case when deleted_at is null then 'l' end]), tags);
drop index cloud_resources_tags;

-- What lives, in the order of the list: what was deleted is kept for ever, and may come to be most of the table.
create index cloud_resources_live on cloud_resources (id) where deleted_at is null;
