// Decides what volumes and the networking kinds look like: VPCs, firewalls, load balancers, reserved
// addresses, domains and SSH keys.
import type { Domain, Firewall, ForwardingRule, LoadBalancer, Region, SshKey, Volume, Vpc } from './kinds.ts'
import { fingerprintOf } from './kinds.ts'

export function buildVolume(fields: {
  id: string
  name: string
  region: Region
  gigabytes: number
  createdAt: string
  description?: string
  dropletIds?: number[]
  tags?: string[]
  filesystemType?: string
  filesystemLabel?: string
}): Volume {
  return {
    id: fields.id,
    region: fields.region,
    droplet_ids: fields.dropletIds ?? [],
    name: fields.name,
    description: fields.description ?? '',
    size_gigabytes: fields.gigabytes,
    created_at: fields.createdAt,
    filesystem_type: fields.filesystemType ?? '',
    filesystem_label: fields.filesystemLabel ?? '',
    tags: fields.tags ?? [],
  }
}

export function buildVpc(fields: {
  id: string
  name: string
  region: string
  ipRange: string
  createdAt: string
  description?: string
  isDefault?: boolean
}): Vpc {
  return {
    id: fields.id,
    urn: `do:vpc:${fields.id}`,
    name: fields.name,
    description: fields.description ?? '',
    region: fields.region,
    ip_range: fields.ipRange,
    created_at: fields.createdAt,
    default: fields.isDefault ?? false,
  }
}

const anywhere = { addresses: ['0.0.0.0/0', '::/0'] }

const webRules = {
  inbound_rules: [
    { protocol: 'tcp' as const, ports: '22', sources: { addresses: ['192.0.2.0/24'] } },
    { protocol: 'tcp' as const, ports: '443', sources: anywhere },
  ],
  outbound_rules: [{ protocol: 'tcp' as const, ports: '0', destinations: anywhere }],
}

export function buildFirewall(fields: {
  id: string
  name: string
  createdAt: string
  status?: Firewall['status']
  dropletIds?: number[]
  tags?: string[]
  rules?: Pick<Firewall, 'inbound_rules' | 'outbound_rules'>
}): Firewall {
  return {
    id: fields.id,
    name: fields.name,
    status: fields.status ?? 'succeeded',
    created_at: fields.createdAt,
    pending_changes: [],
    droplet_ids: fields.dropletIds ?? [],
    tags: fields.tags ?? [],
    ...(fields.rules ?? webRules),
  }
}

const webForwarding: ForwardingRule[] = [
  {
    entry_protocol: 'https',
    entry_port: 443,
    target_protocol: 'http',
    target_port: 8080,
    certificate_id: '',
    tls_passthrough: false,
  },
]

export function buildLoadBalancer(fields: {
  id: string
  name: string
  region: Region
  createdAt: string
  projectId: string
  ip: string
  status?: LoadBalancer['status']
  vpcId?: string
  dropletIds?: number[]
  tag?: string
  sizeUnit?: number
  rules?: ForwardingRule[]
}): LoadBalancer {
  return {
    id: fields.id,
    name: fields.name,
    ip: fields.ip,
    size: 'lb-small',
    size_unit: fields.sizeUnit ?? 1,
    type: 'REGIONAL',
    network: 'EXTERNAL',
    network_stack: 'IPV4',
    tls_cipher_policy: 'DEFAULT',
    algorithm: 'round_robin',
    status: fields.status ?? 'active',
    created_at: fields.createdAt,
    forwarding_rules: fields.rules ?? webForwarding,
    health_check: {
      protocol: 'http',
      port: 8080,
      path: '/healthz',
      check_interval_seconds: 10,
      response_timeout_seconds: 5,
      healthy_threshold: 5,
      unhealthy_threshold: 3,
    },
    sticky_sessions: { type: 'none' },
    region: fields.region,
    tag: fields.tag ?? '',
    droplet_ids: fields.dropletIds ?? [],
    redirect_http_to_https: false,
    enable_proxy_protocol: false,
    enable_backend_keepalive: false,
    ...(fields.vpcId === undefined ? {} : { vpc_uuid: fields.vpcId }),
    disable_lets_encrypt_dns_records: false,
    project_id: fields.projectId,
    http_idle_timeout_seconds: 60,
    firewall: { deny: [], allow: [] },
  }
}

export function buildDomain(name: string, ip?: string): Domain {
  const lines = [
    `$ORIGIN ${name}.`,
    '$TTL 1800',
    `${name}. IN SOA ns1.digitalocean.com. hostmaster.${name}. 1415982609 10800 3600 604800 1800`,
    ...['ns1', 'ns2', 'ns3'].map(server => `${name}. 1800 IN NS ${server}.digitalocean.com.`),
    ...(ip === undefined ? [] : [`${name}. 1800 IN A ${ip}`]),
  ]
  return { name, ttl: 1800, zone_file: `${lines.join('\n')}\n` }
}

export function buildSshKey(id: number, name: string, publicKey?: string): SshKey {
  const key = publicKey ?? `ssh-ed25519 AAAASANDBOXONLY${id} ${name}`
  return { id, fingerprint: fingerprintOf(key), public_key: key, name }
}
