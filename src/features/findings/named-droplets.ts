// SQL of which droplets a firewall or a load balancer is for: those it names, and those that have one of its tags. A tag may be of
// very many on both sides, so what is asked is first brought down to one row for each tag.
import { PROVIDER } from '../inventory/index.ts'

/** SQL, of a lateral join: the droplets that a row names, as x (id). */
export const namedIn = (row: string): string =>
  `(select named.id #>> '{}' as id from jsonb_path_query(${row}.attrs, '$.droplet_ids[*]') named (id))`

/** SQL: a living droplet, by what the provider calls it. */
export const isDroplet = (row: string, id: string): string =>
  `${row}.provider = '${PROVIDER}' and ${row}.kind = 'droplet' and ${row}.provider_id = ${id} and ${row}.deleted_at is null`

/** The tags of living droplets, as droplet_id and tag. */
export const TAGS_OF_DROPLETS = `
  select o.id as droplet_id, t.tag from cloud_resources o cross join lateral unnest(o.tags) t (tag)
  where o.kind = 'droplet' and o.deleted_at is null`
