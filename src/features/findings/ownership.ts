// SQL of whose a resource is: which kinds matter, what their tags tie them to, and what a Kubernetes cluster has made for itself.
import { CLUSTER_TAG, TIE } from '../inventory/index.ts'

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** Kinds that a project holds and that cost money or hold data. Addresses are asked about apart. */
const KEPT = `'droplet', 'volume', 'load_balancer', 'database', 'kubernetes_cluster', 'app'`

/** SQL: it costs money or holds data. An address costs while it points nowhere, and one of IPv6 never. */
export const matters = (row = 'r'): string => `(${row}.kind in (${KEPT})
  or ${row}.kind = 'reserved_ip' and position(':' in ${row}.provider_id) = 0
    and coalesce(jsonb_typeof(${row}.attrs -> 'droplet'), 'null') <> 'object')`

/** Kinds with tags of their own. Those of a firewall say which droplets it is for, and may be of many deployments. */
export const WITH_TAGS = `'droplet', 'volume', 'snapshot', 'image', 'database', 'kubernetes_cluster'`

/** Of those, the ones that a project holds: a tag ties no other. */
export const TIED_BY_TAGS = `'droplet', 'volume', 'database', 'kubernetes_cluster'`

/** SQL: no tag ties it, whatever its tags say. Most are tied, and need not be looked at. */
export const notTiedByTag = (row = 'r'): string =>
  `(${row}.deployment_id is null or ${row}.assigned_deployment_id is not null)`

/** SQL, of a lateral join: the tags that would tie a resource, how many different deployments they name, and the first. */
export const tiesOf = (row = 'r'): string => `(
  select array_agg(tag order by tag) as tags, count(distinct lower(substr(tag, ${TIE.length + 1}))) as named,
    min(lower(substr(tag, ${TIE.length + 1}))) as id
  from unnest(${row}.tags) tag where starts_with(tag, '${TIE}'))`

/** SQL: the text as an id; null when it is none. */
export const asId = (text: string): string => `case when ${text} ~ '^${UUID}$' then ${text}::uuid end`

/** SQL: a droplet is a node of a Kubernetes cluster, which looks after it and makes it anew. */
export const isNode = (row = 'r'): string =>
  `exists (select from unnest(${row}.tags) tag where tag ~ '^${CLUSTER_TAG}${UUID}$')`
