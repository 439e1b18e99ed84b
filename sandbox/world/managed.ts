// Decides what the managed services look like: database clusters (with the passwords and URIs the real
// provider returns, which nobody may store), Kubernetes clusters, apps and container registries.
import { createHash } from 'node:crypto'
import type { App, Cluster, Database, Registry } from './kinds.ts'
import { namedUuid } from './kinds.ts'

type Engine = Database['engine']

const schemes: Partial<Record<Engine, string>> = {
  pg: 'postgresql',
  mysql: 'mysql',
  valkey: 'rediss',
  redis: 'rediss',
}

/** Made up from the id: nothing in the source looks like a credential, yet every cluster has one. */
function passwordOf(id: string): string {
  return `sandbox_${createHash('sha256').update(id).digest('hex').slice(0, 16)}`
}

export function buildDatabase(fields: {
  id: string
  name: string
  engine: Engine
  version: string
  size: string
  region: string
  nodes: number
  createdAt: string
  projectId: string
  status?: Database['status']
  tags?: string[]
  vpcId?: string
  storageMib?: number
}): Database {
  const password = passwordOf(fields.id)
  const connection = (prefix: string) => {
    const host = `${prefix}${fields.name}-do-user-258992-0.db.sandbox.invalid`
    return {
      uri: `${schemes[fields.engine] ?? fields.engine}://doadmin:${password}@${host}:25060/defaultdb?sslmode=require`,
      database: 'defaultdb',
      host,
      port: 25060,
      user: 'doadmin',
      password,
      ssl: true,
    }
  }
  return {
    id: fields.id,
    name: fields.name,
    engine: fields.engine,
    version: fields.version,
    semantic_version: `${fields.version}.4`,
    num_nodes: fields.nodes,
    size: fields.size,
    region: fields.region,
    status: fields.status ?? 'online',
    created_at: fields.createdAt,
    private_network_uuid: fields.vpcId ?? '',
    tags: fields.tags ?? [],
    db_names: ['defaultdb'],
    connection: connection(''),
    private_connection: connection('private-'),
    users: [{ name: 'doadmin', role: 'primary', password }],
    maintenance_window: { day: 'saturday', hour: '08:45:12', pending: false, description: [] },
    project_id: fields.projectId,
    storage_size_mib: fields.storageMib ?? 61_440,
  }
}

export function buildCluster(fields: {
  id: string
  name: string
  region: string
  version: string
  createdAt: string
  state?: 'running' | 'provisioning'
  tags?: string[]
  vpcId?: string
  pools: { name: string; size: string; count: number }[]
}): Cluster {
  const tags = ['k8s', `k8s:${fields.id}`, ...(fields.tags ?? [])]
  const state = fields.state ?? 'running'
  return {
    id: fields.id,
    name: fields.name,
    region: fields.region,
    version: fields.version,
    cluster_subnet: '10.244.0.0/16',
    service_subnet: '10.245.0.0/16',
    ...(fields.vpcId === undefined ? {} : { vpc_uuid: fields.vpcId }),
    ipv4: state === 'running' ? '198.18.250.10' : '',
    endpoint: state === 'running' ? `https://${fields.id}.k8s.sandbox.invalid` : '',
    tags,
    node_pools: fields.pools.map(pool => ({
      id: namedUuid(`${fields.id}:${pool.name}`),
      name: pool.name,
      size: pool.size,
      count: pool.count,
      tags: [...tags, 'k8s:worker'],
      labels: null,
      taints: [],
      auto_scale: false,
      min_nodes: 0,
      max_nodes: 0,
      nodes: Array.from({ length: pool.count }, (_, index) => ({
        id: namedUuid(`${fields.id}:${pool.name}:${index}`),
        name: `${pool.name}-${index + 1}`,
        status: { state },
        droplet_id: String(400_000_000 + index),
        created_at: fields.createdAt,
        updated_at: fields.createdAt,
      })),
    })),
    maintenance_policy: { start_time: '00:00', duration: '4h0m0s', day: 'any' },
    auto_upgrade: false,
    isolated_workers: false,
    status: { state, message: '' },
    created_at: fields.createdAt,
    updated_at: fields.createdAt,
    surge_upgrade: true,
    ha: false,
    registry_enabled: false,
  }
}

export function buildApp(fields: {
  id: string
  name: string
  region: 'nyc' | 'ams' | 'fra' | 'sfo' | 'lon' | 'sgp' | 'tor'
  createdAt: string
  projectId: string
  spec?: App['spec']
}): App {
  const host = `${fields.name}-sandbox.ondigitalocean.invalid`
  return {
    id: fields.id,
    owner_uuid: namedUuid('team'),
    spec: fields.spec ?? {
      name: fields.name,
      region: fields.region,
      disable_edge_cache: false,
      disable_email_obfuscation: false,
      enhanced_threat_control_enabled: false,
      services: [
        {
          name: 'web',
          image: { registry_type: 'DOCR', repository: fields.name, tag: 'latest' },
          instance_size_slug: 'apps-s-1vcpu-0.5gb',
          instance_count: 1,
          http_port: 8080,
        },
      ],
    },
    default_ingress: `https://${host}`,
    live_url: `https://${host}`,
    live_url_base: `https://${host}`,
    live_domain: host,
    created_at: fields.createdAt,
    updated_at: fields.createdAt,
    tier_slug: 'basic',
    region: { slug: fields.region, label: fields.region.toUpperCase(), continent: 'Earth', default: false },
    project_id: fields.projectId,
  }
}

export function buildRegistry(name: string, region: string, createdAt: string): Registry {
  return {
    name,
    created_at: createdAt,
    region,
    storage_usage_bytes: 29_393_920,
    storage_usage_bytes_updated_at: createdAt,
    subscription: {
      tier: {
        name: 'Basic',
        slug: 'basic',
        included_repositories: 5,
        included_storage_bytes: 5_368_709_120,
        allow_storage_overage: true,
        included_bandwidth_bytes: 5_368_709_120,
        monthly_price_in_cents: 500,
        storage_overage_price_in_cents: 2,
      },
      created_at: createdAt,
      updated_at: createdAt,
    },
  }
}
