// Decides what the small company keeps and what it has run for it: volumes, snapshots and images, then
// databases, a cluster, apps and a registry.
import { buildImage, buildSnapshot } from './compute.ts'
import { namedUuid } from './ids.ts'
import { buildApp, buildCluster, buildDatabase, buildRegistry } from './managed.ts'
import { buildVolume } from './network.ts'
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
