// Decides which kinds of resource exist: their types, taken from the official specification, where the provider lists them,
// how each is identified, and which of them belong to a project.
import { createHash } from 'node:crypto'
import type { components } from '../../src/integrations/digitalocean/generated/api.d.ts'

type Schemas = components['schemas']

export type Droplet = Schemas['droplet']
export type Volume = Schemas['volume_full'] & { id: string; name: string; region: Region }
export type Snapshot = Schemas['snapshots']
export type Image = Schemas['image'] & { id: number; name: string }
export type LoadBalancer = Schemas['load_balancer'] & { id: string; name: string }
export type Firewall = Schemas['firewall'] & { id: string; name: string }
export type Vpc = Schemas['vpc'] & { id: string; name: string }
export type Domain = Schemas['domain'] & { name: string }
export type SshKey = Schemas['sshKeys'] & { id: number }
export type Database = Schemas['database_cluster_read'] & { id: string }
export type Cluster = Schemas['cluster_read'] & { id: string }
export type App = Schemas['app'] & { id: string }
export type Registry = Schemas['registry'] & { name: string }
export type Region = Schemas['region']
export type Size = Schemas['size']
export type Action = Schemas['action'] & { id: number; status: 'in-progress' | 'completed' | 'errored' }
export type Account = Schemas['account']
export type Project = Schemas['project'] & { id: string; name: string }
export type ProjectResource = Schemas['resource'] & { urn: string }
export type ForwardingRule = Schemas['forwarding_rule']

// Kept with the droplet's id alone; the droplet is put in whole when it is shown, so that it never goes
// stale. (The official type of `region` here is an intersection that nothing can satisfy.)
export type ReservedIp = {
  ip: string
  region: Region
  locked: boolean
  project_id: string
  droplet_id: number | null
}
export type ReservedIpv6 = {
  ip: string
  region_slug: string
  reserved_at: string
  droplet_id: number | null
}

// Decides which kinds of resource exist, where the provider lists them, how each is identified and which
// of them belong to a project. GPU droplets and IPv6 reservations are listings of their own at the provider.

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

// Decides which ids things get. Seeds name theirs, so they are the same at every start; what is created
// later counts up from the world's start, so that a restarted sandbox never hands an old id out again.

/** The same name always gives the same UUID. */
export function namedUuid(name: string): string {
  const hex = createHash('sha1').update(`cloudops-sandbox:${name}`).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}

/** MD5-style colon-separated fingerprint, as the provider shows for SSH keys. */
export function fingerprintOf(publicKey: string): string {
  const hex = createHash('md5').update(publicKey).digest('hex')
  return hex.match(/../g)?.join(':') ?? hex
}

/** How many of each were given out. */
export type IdCounts = { numbers: number; uuids: number; addresses: number }

export type Ids = {
  readonly counts: IdCounts
  number(): number
  uuid(): string
  ipv4(): string
  ipv6(): string
}

const COUNT_FROM = Date.UTC(2026, 0, 1)

export function createIds(startedAt: Date): Ids {
  const epoch = Math.max(0, Math.floor((startedAt.getTime() - COUNT_FROM) / 1000))
  const counts = { numbers: 0, uuids: 0, addresses: 0 }
  return {
    counts,
    number: () => 600_000_000 + epoch + ++counts.numbers,
    uuid: () => namedUuid(`created:${epoch}:${++counts.uuids}`),
    // 198.18.0.0/15 and 2001:db8::/32 are set aside for tests: no sandbox address belongs to anybody.
    ipv4: () => {
      counts.addresses += 1
      return `198.19.${(counts.addresses >> 8) & 255}.${counts.addresses & 255}`
    },
    ipv6: () => `2001:db8:feed::${(++counts.addresses).toString(16)}`,
  }
}
