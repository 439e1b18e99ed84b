// Decides which servers the small company runs and what stands before them: droplets, firewalls, load
// balancers and reserved addresses.
import { findPublicImage, findSize, mustFind } from './catalogue.ts'
import { buildDroplet } from './compute.ts'
import { namedUuid } from './ids.ts'
import { buildFirewall, buildLoadBalancer } from './network.ts'
import {
  at,
  type Owner,
  region,
  SINCE,
  since,
  smallCompanyProjects,
  volumeId,
  vpcId,
} from './small-company-places.ts'
import { addResource, type World } from './world.ts'

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
