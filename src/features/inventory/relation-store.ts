// Reads what belongs to what from the provider's answers, as they are mirrored. One statement for each step away from the
// resource asked about: all relations of all that was found in the step before, from either end, by an index each.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Edge, RelationName } from './relation.ts'
import { type CloudResourceRow, PROVIDER } from './resource.ts'

/** How `f` and `t` find each other: a join of the one that is known (asked for by id) with the other. */
interface Way {
  relation: RelationName
  /** Of `f`, the end that the relation goes from, and of `t`. */
  from: string
  to: string
  /** With `f` known: SQL of a relation x (kind, id) of what it names; or a condition on `t`. */
  named?: string
  matches?: string
  /** With `t` known: the condition on `f`. */
  naming: string
}

/** The id as the provider writes it in answers: droplets and images have numbers. */
const idOf = (row: string) =>
  `case when ${row}.provider_id ~ '^[0-9]{1,18}$' then to_jsonb(${row}.provider_id::bigint) else to_jsonb(${row}.provider_id) end`
const lists = (member: string) =>
  `f.attrs @> jsonb_build_object('${member}', jsonb_build_array(${idOf('t')}))`
const elements = (member: string, kind: string) => `
  select '${kind}' as kind, x.id from jsonb_array_elements_text(
    case jsonb_typeof(f.attrs -> '${member}') when 'array' then f.attrs -> '${member}' else '[]' end) x (id)`

const VPC = `coalesce(f.attrs ->> 'vpc_uuid', f.attrs ->> 'private_network_uuid')`
const IN_VPC = `'droplet', 'load_balancer', 'database', 'kubernetes_cluster'`
/**
 * What the provider tags the nodes and volumes of a cluster with, before the cluster's id; `k8s:worker` beside it names no
 * cluster.
 */
export const CLUSTER_TAG = 'k8s:'

const WAYS: Way[] = [
  {
    relation: 'attached_to',
    from: `'volume'`,
    to: `'droplet'`,
    named: elements('droplet_ids', 'droplet'),
    naming: lists('droplet_ids'),
  },
  {
    relation: 'assigned_to',
    from: `'reserved_ip'`,
    to: `'droplet'`,
    named: `select 'droplet' as kind, f.attrs -> 'droplet' ->> 'id' as id`,
    naming: `f.attrs @> jsonb_build_object('droplet', jsonb_build_object('id', ${idOf('t')}))`,
  },
  {
    relation: 'in_vpc',
    from: IN_VPC,
    to: `'vpc'`,
    named: `select 'vpc' as kind, ${VPC} as id`,
    naming: `${VPC} = t.provider_id`,
  },
  {
    relation: 'protects',
    from: `'firewall'`,
    to: `'droplet'`,
    named: elements('droplet_ids', 'droplet'),
    naming: lists('droplet_ids'),
  },
  {
    relation: 'protects',
    from: `'firewall'`,
    to: `'droplet'`,
    matches: 't.tags && f.tags',
    naming: 'f.tags && t.tags',
  },
  {
    relation: 'serves',
    from: `'load_balancer'`,
    to: `'droplet'`,
    named: elements('droplet_ids', 'droplet'),
    naming: lists('droplet_ids'),
  },
  {
    relation: 'serves',
    from: `'load_balancer'`,
    to: `'droplet'`,
    matches: `t.tags @> array[f.attrs ->> 'tag']`,
    naming: `f.attrs ->> 'tag' = any(t.tags)`,
  },
  {
    relation: 'snapshot_of',
    from: `'snapshot'`,
    to: `'droplet', 'volume'`,
    named: `select f.attrs ->> 'resource_type' as kind, f.attrs ->> 'resource_id' as id`,
    naming: `f.attrs @> jsonb_build_object('resource_type', t.kind, 'resource_id', t.provider_id)`,
  },
  {
    relation: 'made_from',
    from: `'droplet'`,
    to: `'image', 'snapshot'`,
    named: `select kind, f.attrs -> 'image' ->> 'id' as id from (values ('image'), ('snapshot')) k (kind)`,
    naming: `f.attrs -> 'image' ->> 'slug' is null and f.attrs -> 'image' ->> 'id' = t.provider_id`,
  },
  {
    relation: 'node_of',
    from: `'droplet'`,
    to: `'kubernetes_cluster'`,
    named: `select 'kubernetes_cluster' as kind, substr(tag, ${CLUSTER_TAG.length + 1}) as id from unnest(f.tags) tag where starts_with(tag, '${CLUSTER_TAG}')`,
    naming: `f.tags @> array['${CLUSTER_TAG}' || t.provider_id]`,
  },
]

const own = (row: string) => `${row}.deleted_at is null and ($2::text is null or ${row}.tenant_id = $2)`

/** The fences (`offset 0`) make the planner begin with what is known and look the other end up. */
function edgesOf({ relation, from, to, named, matches, naming }: Way): string[] {
  const known = (kinds: string) =>
    `(select * from cloud_resources k where k.id = any($1::uuid[]) and k.kind in (${kinds}) and ${own('k')} offset 0)`
  const columns = `select f.id as from_id, '${relation}' as relation, t.id as to_id`
  const forward = named
    ? `${columns} from ${known(from)} f cross join lateral (${named}) x
        join cloud_resources t on t.provider = '${PROVIDER}' and t.kind = x.kind and t.provider_id = x.id and ${own('t')}`
    : `${columns} from ${known(from)} f join cloud_resources t on t.kind in (${to}) and ${matches} and ${own('t')}`
  const backward = `${columns} from ${known(to)} t join cloud_resources f on f.kind in (${from}) and ${naming} and ${own('f')}`
  return [`(${forward} limit $3)`, `(${backward} limit $3)`]
}

const EDGES = `select distinct * from (${WAYS.flatMap(edgesOf).join('\nunion all\n')}) e order by from_id, relation, to_id limit $3`

/** The relations that living resources have, to such as the caller may see; at most so many. */
export const listEdges = (executor: Executor, scope: Scope, ids: string[], limit: number): Promise<Edge[]> =>
  runStatement<Edge>(executor, { name: 'inventory_relations', text: EDGES }, [
    ids,
    scope.allTenants ? null : scope.tenantId,
    limit,
  ])

export type RelatedRow = Pick<
  CloudResourceRow,
  'id' | 'provider_id' | 'kind' | 'name' | 'region' | 'status' | 'tenant_id' | 'project_id' | 'deployment_id'
>

/** Those of them that live and the caller may see. */
export const listRelated = (executor: Executor, scope: Scope, ids: string[]): Promise<RelatedRow[]> =>
  runStatement<RelatedRow>(
    executor,
    {
      name: 'inventory_related',
      text: `select id, provider_id, kind, name, region, status, tenant_id, project_id, deployment_id from cloud_resources r
        where r.id = any($1::uuid[]) and ${own('r')}`,
    },
    [ids, scope.allTenants ? null : scope.tenantId],
  )
