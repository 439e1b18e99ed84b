// Decides what the small company has: its projects, the day it began, its droplets, storage and managed services.
import { findPublicImage, findRegion, findSize, mustFind } from './catalogue.ts'
import { buildDroplet, buildImage, buildSnapshot } from './compute.ts'
import { namedUuid } from './kinds.ts'
import { buildApp, buildCluster, buildDatabase, buildRegistry } from './managed.ts'
import { buildFirewall, buildLoadBalancer, buildVolume } from './network.ts'
import { addResource, type World } from './world.ts'

export const SINCE = '2025-11-03T09:00:00Z'
export const since = new Date(SINCE)

export const region = (slug: string) => mustFind(findRegion(slug), slug)
const projectId = (name: string) => namedUuid(`project:${name}`)
export const vpcId = (name: string) => namedUuid(`vpc:${name}`)
export const volumeId = (name: string) => namedUuid(`volume:${name}`)

export const smallCompanyProjects = {
  platform: projectId('platform'),
  acme: projectId('acme'),
  globex: projectId('globex'),
  initech: projectId('initech'),
}

export type Owner = keyof typeof smallCompanyProjects

export function at(owner: Owner) {
  return { projectId: smallCompanyProjects[owner], now: since }
}

// Decides which servers the small company runs and what stands before them: droplets, firewalls, load
// balancers and reserved addresses.

type DropletRow = [id: number, name: string, owner: Owner, size: string, region: string, role: string]

const dropletRows: DropletRow[] = [
  [41_000_101, 'platform-bastion-01', 'platform', 's-1vcpu-1gb', 'nyc3', 'bastion'],
  [41_000_102, 'platform-monitor-01', 'platform', 's-2vcpu-4gb', 'nyc3', 'monitor'],
  [41_000_201, 'acme-prod-web-01', 'acme', 's-2vcpu-4gb', 'nyc3', 'web'],
  [41_000_202, 'acme-prod-web-02', 'acme', 's-2vcpu-4gb', 'nyc3', 'web'],
  [41_000_203, 'acme-prod-worker-01', 'acme', 's-1vcpu-2gb', 'nyc3', 'worker'],
  [41_000_301, 'globex-prod-api-01', 'globex', 's-4vcpu-8gb', 'fra1', 'api'],
  [41_000_302, 'globex-staging-api-01', 'globex', 's-1vcpu-2gb', 'fra1', 'api'],
  [41_000_401, 'initech-prod-app-01', 'initech', 's-2vcpu-2gb', 'tor1', 'app'],
  [41_000_402, 'initech-train-01', 'initech', 'gpu-h100x1-80gb', 'tor1', 'train'],
]

const mounted: Record<number, string> = {
  41000102: 'platform-metrics',
  41000201: 'acme-prod-uploads',
  41000301: 'globex-prod-data',
  41000402: 'initech-models',
}

export function addCompute(world: World): void {
  for (const [id, name, owner, sizeSlug, regionSlug, role] of dropletRows) {
    const size = mustFind(findSize(sizeSlug), sizeSlug)
    const gpu = size.gpu_info !== undefined
    const image = gpu ? 'gpu-h100x1-base' : 'ubuntu-24-04-x64'
    const backedUp = role === 'web'
    const droplet = buildDroplet({
      id,
      name,
      region: region(regionSlug),
      size,
      image: mustFind(findPublicImage(image), image),
      createdAt: SINCE,
      status: name.includes('staging') ? 'off' : 'active',
      tags: [`tenant:${owner}`, name.includes('staging') ? 'env:staging' : 'env:prod', `role:${role}`],
      vpcId: vpcId(owner === 'platform' ? 'default-nyc3' : `${owner}-prod`),
      volumeIds: mounted[id] === undefined ? [] : [volumeId(mounted[id])],
      snapshotIds: id === 41_000_301 ? [177_300_301] : [],
      features: ['droplet_agent', 'private_networking', ...(backedUp ? ['backups'] : [])],
      ...(backedUp ? { backupWindow: { start: '2026-09-20T00:00:00Z', end: '2026-09-20T23:00:00Z' } } : {}),
    })
    addResource(world, gpu ? 'gpu_droplet' : 'droplet', droplet, at(owner))
  }
  const rows: [name: string, tag: string, droplets: number[]][] = [
    ['platform-ssh', 'role:bastion', [41_000_101]],
    ['acme-prod-web', 'role:web', [41_000_201, 41_000_202]],
    ['globex-prod-api', 'role:api', [41_000_301, 41_000_302]],
  ]
  for (const [name, tag, dropletIds] of rows) {
    const id = namedUuid(`firewall:${name}`)
    const firewall = buildFirewall({ id, name, createdAt: SINCE, dropletIds, tags: [tag] })
    addResource(world, 'firewall', firewall, { now: since })
  }
  const balancers: [name: string, owner: Owner, region: string, ip: string, droplets: number[]][] = [
    ['acme-prod-lb', 'acme', 'nyc3', '198.18.9.11', [41_000_201, 41_000_202]],
    ['globex-prod-lb', 'globex', 'fra1', '198.18.9.12', [41_000_301]],
  ]
  for (const [name, owner, slug, ip, dropletIds] of balancers) {
    const balancer = buildLoadBalancer({
      id: namedUuid(`load_balancer:${name}`),
      name,
      region: region(slug),
      createdAt: SINCE,
      projectId: smallCompanyProjects[owner],
      ip,
      vpcId: vpcId(`${owner}-prod`),
      dropletIds,
    })
    addResource(world, 'load_balancer', balancer, at(owner))
  }
  const addresses: [ip: string, owner: Owner, region: string, droplet: number | null][] = [
    ['198.18.9.20', 'acme', 'nyc3', 41_000_203],
    ['198.18.9.21', 'globex', 'fra1', 41_000_301],
    ['198.18.9.22', 'initech', 'tor1', null],
  ]
  for (const [ip, owner, slug, dropletId] of addresses) {
    const reserved = {
      ip,
      region: region(slug),
      locked: false,
      project_id: smallCompanyProjects[owner],
      droplet_id: dropletId,
    }
    addResource(world, 'reserved_ip', reserved, at(owner))
  }
  const six = { ip: '2001:db8:9::20', region_slug: 'fra1', reserved_at: SINCE, droplet_id: 41_000_301 }
  addResource(world, 'reserved_ipv6', six, { now: since })
}

// Decides what the small company keeps and what it has run for it: volumes, snapshots and images, then
// databases, a cluster, apps and a registry.

export function addStorage(world: World): void {
  const volumes: [name: string, owner: Owner, region: string, gigabytes: number, droplet: number][] = [
    ['platform-metrics', 'platform', 'nyc3', 100, 41_000_102],
    ['acme-prod-uploads', 'acme', 'nyc3', 250, 41_000_201],
    ['globex-prod-data', 'globex', 'fra1', 500, 41_000_301],
    ['initech-models', 'initech', 'tor1', 1000, 41_000_402],
  ]
  for (const [name, owner, slug, gigabytes, droplet] of volumes) {
    const volume = buildVolume({
      id: volumeId(name),
      name,
      region: region(slug),
      gigabytes,
      createdAt: SINCE,
      dropletIds: [droplet],
      tags: [`tenant:${owner}`],
      filesystemType: 'ext4',
    })
    addResource(world, 'volume', volume, at(owner))
  }
  const snapshot = {
    name: 'globex-prod-api-01-before-upgrade',
    region: 'fra1',
    createdAt: '2026-05-11T06:30:00Z',
  }
  // A droplet's snapshot is listed twice by the provider: as a snapshot, and as a private image.
  addResource(
    world,
    'snapshot',
    buildSnapshot({ ...snapshot, id: '177300301', of: { kind: 'droplet', id: '41000301' }, gigabytes: 12.7 }),
    { now: since },
  )
  addResource(
    world,
    'image',
    buildImage({ ...snapshot, id: 177_300_301, type: 'snapshot', gigabytes: 12.7 }),
    { now: since },
  )
  addResource(
    world,
    'snapshot',
    buildSnapshot({
      id: namedUuid('snapshot:acme-uploads'),
      name: 'acme-prod-uploads-monthly',
      region: 'nyc3',
      createdAt: '2026-06-01T03:00:00Z',
      of: { kind: 'volume', id: volumeId('acme-prod-uploads') },
      minDiskSize: 250,
      gigabytes: 61.2,
      tags: ['tenant:acme'],
    }),
    { now: since },
  )
  const golden = { id: 177_300_100, name: 'platform-golden-2026-05', region: 'nyc3', createdAt: SINCE }
  addResource(world, 'image', buildImage({ ...golden, type: 'custom', tags: ['golden'] }), { now: since })
}

export function addManaged(world: World): void {
  const databases: [
    name: string,
    owner: Owner,
    engine: 'pg' | 'mysql' | 'valkey',
    version: string,
    size: string,
  ][] = [
    ['acme-prod-db', 'acme', 'pg', '17', 'db-s-2vcpu-4gb'],
    ['globex-prod-cache', 'globex', 'valkey', '8', 'db-s-1vcpu-2gb'],
    ['initech-prod-db', 'initech', 'mysql', '8', 'db-s-1vcpu-2gb'],
  ]
  const homes = { acme: 'nyc3', globex: 'fra1', initech: 'tor1', platform: 'nyc3' }
  for (const [name, owner, engine, version, size] of databases) {
    const database = buildDatabase({
      id: namedUuid(`database:${name}`),
      name,
      engine,
      version,
      size,
      region: homes[owner],
      nodes: owner === 'acme' ? 2 : 1,
      createdAt: SINCE,
      projectId: smallCompanyProjects[owner],
      tags: [`tenant:${owner}`],
      vpcId: vpcId(`${owner}-prod`),
    })
    addResource(world, 'database', database, at(owner))
  }
  const cluster = buildCluster({
    id: namedUuid('cluster:globex-prod-k8s'),
    name: 'globex-prod-k8s',
    region: 'fra1',
    version: '1.33.1-do.2',
    createdAt: SINCE,
    tags: ['tenant:globex'],
    vpcId: vpcId('globex-prod'),
    pools: [{ name: 'globex-pool', size: 's-2vcpu-4gb', count: 3 }],
  })
  addResource(world, 'kubernetes_cluster', cluster, at('globex'))
  const apps = [
    ['acme-landing', 'acme', 'nyc'],
    ['initech-portal', 'initech', 'tor'],
  ] as const
  for (const [name, owner, slug] of apps) {
    const id = namedUuid(`app:${name}`)
    const app = buildApp({ id, name, region: slug, createdAt: SINCE, projectId: smallCompanyProjects[owner] })
    addResource(world, 'app', app, at(owner))
  }
  addResource(world, 'registry', buildRegistry('platform-images', 'nyc3', SINCE), { now: since })
}
