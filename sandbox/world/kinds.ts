// Decides which kinds of resource exist, where the provider lists them, how each is identified and which
// of them belong to a project. GPU droplets and IPv6 reservations are listings of their own at the provider.
import type {
  App,
  Cluster,
  Database,
  Domain,
  Droplet,
  Firewall,
  Image,
  LoadBalancer,
  Registry,
  ReservedIp,
  ReservedIpv6,
  Snapshot,
  SshKey,
  Volume,
  Vpc,
} from './official.ts'

export type Items = {
  droplet: Droplet
  gpu_droplet: Droplet
  volume: Volume
  snapshot: Snapshot
  image: Image
  load_balancer: LoadBalancer
  reserved_ip: ReservedIp
  reserved_ipv6: ReservedIpv6
  firewall: Firewall
  vpc: Vpc
  domain: Domain
  ssh_key: SshKey
  database: Database
  kubernetes_cluster: Cluster
  app: App
  registry: Registry
}

export type Kind = keyof Items

type Traits = { path: string; idField: string; urn?: string }

export const KINDS = {
  droplet: { path: '/v2/droplets', idField: 'id', urn: 'droplet' },
  gpu_droplet: { path: '/v2/droplets', idField: 'id', urn: 'droplet' },
  volume: { path: '/v2/volumes', idField: 'id', urn: 'volume' },
  snapshot: { path: '/v2/snapshots', idField: 'id' },
  image: { path: '/v2/images', idField: 'id' },
  load_balancer: { path: '/v2/load_balancers', idField: 'id', urn: 'loadbalancer' },
  reserved_ip: { path: '/v2/reserved_ips', idField: 'ip', urn: 'floatingip' },
  reserved_ipv6: { path: '/v2/reserved_ipv6', idField: 'ip' },
  firewall: { path: '/v2/firewalls', idField: 'id' },
  vpc: { path: '/v2/vpcs', idField: 'id' },
  domain: { path: '/v2/domains', idField: 'name', urn: 'domain' },
  ssh_key: { path: '/v2/account/keys', idField: 'id' },
  database: { path: '/v2/databases', idField: 'id', urn: 'dbaas' },
  kubernetes_cluster: { path: '/v2/kubernetes/clusters', idField: 'id', urn: 'kubernetes' },
  app: { path: '/v2/apps', idField: 'id', urn: 'app' },
  registry: { path: '/v2/registries', idField: 'name' },
} as const satisfies Record<Kind, Traits>

export const kindNames = Object.keys(KINDS) as Kind[]

export function isKind(word: string): word is Kind {
  return Object.hasOwn(KINDS, word)
}

export function urnOf(kind: Kind, id: string | number): string | undefined {
  const traits: Traits = KINDS[kind]
  return traits.urn === undefined ? undefined : `do:${traits.urn}:${id}`
}

/** Which kind and id a URN speaks of; GPU droplets answer to `droplet`. */
export function parseUrn(urn: string): { kind: Kind; id: string } | undefined {
  const [scheme, type, ...rest] = urn.split(':')
  if (scheme !== 'do' || rest.length === 0) return undefined
  const kind = kindNames.find(name => (KINDS[name] as Traits).urn === type)
  return kind === undefined ? undefined : { kind, id: rest.join(':') }
}
