-- The inventory as it was at a moment, and what has changed between two. A version that has not ended is found beside its
-- resource; so what the filters of a list need is indexed for ended versions alone, and a first sweep writes none of it.

-- What a tenant had at a moment, in the order of the list. All of it is decided in the index.
create index resource_versions_tenant_then on resource_versions
  (tenant_id, resource_id, valid_from, (coalesce(valid_to, 'infinity')));

-- Any combination of filters, as cloud_resources_facets. src/features/inventory/list-then.ts has the same expression.
create index resource_versions_facets on resource_versions using gin ((array[
  'k' || kind, 'n' || name, 'r' || region, 's' || status, 'p' || project_id::text, 'd' || deployment_id::text,
  't' || tenant_id, case when deleted_at is null then 'l' end]), tags) where valid_to is not null;

-- What began in a span and still held at its end, in the order of time.
create index resource_versions_began on resource_versions (valid_from, resource_id, (coalesce(valid_to, 'infinity')));
-- What a tenant had that ended in a span.
create index resource_versions_tenant_ended on resource_versions (tenant_id, valid_to, resource_id) where valid_to is not null;

-- What belongs to what, asked from its other end: whom an address, a firewall, a load balancer, a volume or a snapshot names;
-- what is in a network; which droplets were made from an image of the account's own, which has no slug.
create index cloud_resources_names on cloud_resources using gin (attrs jsonb_path_ops)
  where deleted_at is null and kind in ('volume', 'reserved_ip', 'firewall', 'load_balancer', 'snapshot');
create index cloud_resources_vpc on cloud_resources ((coalesce(attrs ->> 'vpc_uuid', attrs ->> 'private_network_uuid')))
  where deleted_at is null and kind in ('droplet', 'load_balancer', 'database', 'kubernetes_cluster');
create index cloud_resources_own_image on cloud_resources ((attrs -> 'image' ->> 'id'))
  where deleted_at is null and kind = 'droplet' and attrs -> 'image' ->> 'slug' is null;
