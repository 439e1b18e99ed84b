// The fourteen kinds of the inventory as the provider serves them: where they are listed, which fields give
// identity, name, region, status and tags, and what never becomes an attribute because it is noise or secret.
// The secrets named here are the documented ones; resources.ts also drops by rule whatever is named like one.
import type { paths } from './generated/api.d.ts'

export interface KindEntry {
  /** Joined into one listing, which is whole only when each of them is. */
  readonly sources: readonly {
    readonly path: keyof paths
    readonly query?: Readonly<Record<string, string>>
    readonly key: string
    readonly paged: boolean
    readonly mayBeAbsent?: boolean
  }[]
  /** Where a single one is read, and the key of its response; null where it has to be found in the listing. */
  readonly one: { readonly path: keyof paths; readonly key: string } | null
  readonly id: string
  /** Dotted paths, the first that holds text wins. */
  readonly name: readonly string[]
  readonly region: readonly string[]
  readonly status: readonly string[]
  readonly tagged: boolean
  /** The type in `do:<type>:<id>`; null for what a project does not hold. */
  readonly urn: string | null
  /** Statuses that will change by themselves, so that the resource is worth reading again soon. */
  readonly transitional: readonly string[]
  /** Dotted paths left out, array positions not counted. */
  readonly noise: readonly string[]
  /** The same, for what must not be stored anywhere. */
  readonly secrets: readonly string[]
  /** Embedded objects cut down to these fields, by dotted path. */
  readonly keepOnly: Readonly<Record<string, readonly string[]>>
  /** Arrays whose order means something; every other array is sorted. */
  readonly ordered: readonly string[]
}

const usual = {
  id: 'id',
  name: ['name'],
  region: ['region.slug'],
  status: ['status'],
  tagged: true,
  transitional: [],
  noise: [],
  secrets: [],
  keepOnly: {},
  ordered: [],
} as const

export const kinds = {
  droplet: {
    ...usual,
    // The plain listing leaves GPU droplets out; they have a listing of their own.
    sources: [
      { path: '/v2/droplets', key: 'droplets', paged: true },
      { path: '/v2/droplets', query: { type: 'gpus' }, key: 'droplets', paged: true },
    ],
    one: { path: '/v2/droplets/{droplet_id}', key: 'droplet' },
    urn: 'droplet',
    transitional: ['new'],
    // `size` is the provider's price table; `size_slug` stays.
    noise: ['size', 'next_backup_window'],
    keepOnly: { image: ['id', 'slug', 'name', 'distribution'] },
  },
  volume: {
    ...usual,
    sources: [{ path: '/v2/volumes', key: 'volumes', paged: true }],
    one: { path: '/v2/volumes/{volume_id}', key: 'volume' },
    status: [],
    urn: 'volume',
  },
  snapshot: {
    ...usual,
    sources: [{ path: '/v2/snapshots', key: 'snapshots', paged: true }],
    one: { path: '/v2/snapshots/{snapshot_id}', key: 'snapshot' },
    region: ['regions'],
    status: [],
    urn: null,
  },
  image: {
    ...usual,
    // Only the account's own: the public catalogue belongs to the provider, not to anyone's inventory.
    sources: [{ path: '/v2/images', query: { private: 'true' }, key: 'images', paged: true }],
    one: { path: '/v2/images/{image_id}', key: 'image' },
    region: ['regions'],
    urn: null,
    transitional: ['NEW', 'pending'],
  },
  load_balancer: {
    ...usual,
    sources: [{ path: '/v2/load_balancers', key: 'load_balancers', paged: true }],
    one: { path: '/v2/load_balancers/{lb_id}', key: 'load_balancer' },
    // Its `tag` names the droplets it serves and stays an attribute; it has no tags of its own.
    tagged: false,
    urn: 'loadbalancer',
    transitional: ['new'],
  },
  reserved_ip: {
    ...usual,
    sources: [
      { path: '/v2/reserved_ips', key: 'reserved_ips', paged: true },
      { path: '/v2/reserved_ipv6', key: 'reserved_ipv6s', paged: true, mayBeAbsent: true },
    ],
    one: { path: '/v2/reserved_ips/{reserved_ip}', key: 'reserved_ip' },
    id: 'ip',
    name: ['ip'],
    region: ['region.slug', 'region_slug'],
    status: [],
    tagged: false,
    urn: 'floatingip',
    // The whole droplet is embedded; it has a row of its own.
    keepOnly: { droplet: ['id'] },
  },
  firewall: {
    ...usual,
    sources: [{ path: '/v2/firewalls', key: 'firewalls', paged: true }],
    one: { path: '/v2/firewalls/{firewall_id}', key: 'firewall' },
    region: [],
    urn: null,
    transitional: ['waiting'],
    noise: ['pending_changes'],
  },
  vpc: {
    ...usual,
    sources: [{ path: '/v2/vpcs', key: 'vpcs', paged: true }],
    one: { path: '/v2/vpcs/{vpc_id}', key: 'vpc' },
    region: ['region'],
    status: [],
    tagged: false,
    urn: 'vpc',
    noise: ['urn'],
  },
  domain: {
    ...usual,
    sources: [{ path: '/v2/domains', key: 'domains', paged: true }],
    one: { path: '/v2/domains/{domain_name}', key: 'domain' },
    id: 'name',
    region: [],
    status: [],
    tagged: false,
    urn: 'domain',
    // A rendering of all records, with a serial that moves on its own.
    noise: ['zone_file'],
  },
  ssh_key: {
    ...usual,
    sources: [{ path: '/v2/account/keys', key: 'ssh_keys', paged: true }],
    one: { path: '/v2/account/keys/{ssh_key_identifier}', key: 'ssh_key' },
    region: [],
    status: [],
    tagged: false,
    urn: null,
  },
  database: {
    ...usual,
    sources: [{ path: '/v2/databases', key: 'databases', paged: false }],
    one: { path: '/v2/databases/{database_cluster_uuid}', key: 'database' },
    region: ['region'],
    urn: 'dbaas',
    transitional: ['creating', 'resizing', 'migrating', 'forking'],
    noise: ['maintenance_window.pending', 'maintenance_window.description'],
    // Each connection holds a password and an address with the password in it.
    secrets: [
      'connection',
      'private_connection',
      'standby_connection',
      'standby_private_connection',
      'ui_connection',
      'schema_registry_connection',
      'users.password',
      'users.access_cert',
      'users.access_key',
    ],
  },
  kubernetes_cluster: {
    ...usual,
    sources: [{ path: '/v2/kubernetes/clusters', key: 'kubernetes_clusters', paged: true }],
    one: { path: '/v2/kubernetes/clusters/{cluster_id}', key: 'kubernetes_cluster' },
    region: ['region'],
    status: ['status.state'],
    urn: 'kubernetes',
    transitional: ['provisioning', 'upgrading', 'deleting'],
    // Nodes come and go with the autoscaler and are droplets of their own; the pool's count stays.
    noise: ['updated_at', 'node_pools.nodes'],
    secrets: ['kubeconfig', 'credentials'],
    ordered: ['cluster_autoscaler_configuration.expanders'],
  },
  app: {
    ...usual,
    sources: [{ path: '/v2/apps', key: 'apps', paged: true }],
    one: { path: '/v2/apps/{id}', key: 'app' },
    name: ['spec.name'],
    // An app has no status of its own: its newest deployment's phase says how it is.
    status: ['in_progress_deployment.phase', 'pending_deployment.phase', 'active_deployment.phase'],
    tagged: false,
    urn: 'app',
    transitional: ['PENDING_BUILD', 'BUILDING', 'PENDING_DEPLOY', 'DEPLOYING'],
    noise: [
      'updated_at',
      'last_deployment_created_at',
      'last_deployment_active_at',
      'cause',
      'progress',
      'in_progress_deployment',
      'pending_deployment',
      'domains.progress',
      'domains.validations',
      'domains.certificate_expires_at',
    ],
    keepOnly: { active_deployment: ['id'], pinned_deployment: ['id'] },
    ordered: ['spec.ingress.rules'],
  },
  registry: {
    ...usual,
    sources: [{ path: '/v2/registries', key: 'registries', paged: false }],
    one: null,
    id: 'name',
    region: ['region'],
    status: [],
    tagged: false,
    urn: null,
    noise: ['storage_usage_bytes', 'storage_usage_bytes_updated_at', 'subscription.updated_at'],
    keepOnly: { 'subscription.tier': ['slug'] },
  },
} as const satisfies Record<string, KindEntry>

export type Kind = keyof typeof kinds

export const kindNames = Object.keys(kinds) as Kind[]

export function isKind(text: string): text is Kind {
  return Object.hasOwn(kinds, text)
}

export function kindEntry(kind: Kind): KindEntry {
  return kinds[kind]
}

/** How many endpoints a kind is listed by: what a listing of it costs at the least. */
export const sourceCount = (kind: Kind): number => kindEntry(kind).sources.length

/** Whether projects hold resources of this kind. */
export const isInProjects = (kind: Kind): boolean => kindEntry(kind).urn !== null

// The names under which a project holds resources, `do:<type>:<id>`, and back from a name to a kind.

export function urnOf(kind: Kind, providerId: string): string | null {
  const type = kindEntry(kind).urn
  if (type === null) return null
  const isIpv6 = kind === 'reserved_ip' && providerId.includes(':')
  return `do:${isIpv6 ? 'reservedipv6' : type}:${providerId}`
}

/**
 * Projects say `floatingip` for what is a reserved IP everywhere else, and clients write `reservedip`:
 * both are understood, so match resources by what this returns and not by comparing names.
 */
const kindOfType = new Map<string, Kind>([
  ...kindNames.flatMap(kind => {
    const type = kindEntry(kind).urn
    return type === null ? [] : [[type, kind] as [string, Kind]]
  }),
  ['reservedip', 'reserved_ip'],
  ['reservedipv6', 'reserved_ip'],
])

/** Null for a name that is none, or of a kind the inventory does not hold (a Space). */
export function resourceOfUrn(urn: string): { kind: Kind; provider_id: string } | null {
  // The id may itself contain colons: an IPv6 address does.
  const [, type, id] = /^do:([a-z0-9]+):(.+)$/.exec(urn) ?? []
  const kind = type === undefined ? undefined : kindOfType.get(type)
  return kind && id ? { kind, provider_id: id } : null
}
