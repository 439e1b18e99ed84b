// A labelled account: planted waste, each with its check and what it costs a month, and beside each something that only looks
// like it. Droplets are swept over five days, so that what was off, deleted or missing when is on record.
import { findPublicImage, findRegion, findSize, mustFind } from '../../sandbox/world/catalogue.ts'
import { buildDroplet, buildImage, buildSnapshot } from '../../sandbox/world/compute.ts'
import type { Droplet, Image } from '../../sandbox/world/kinds.ts'
import { namedUuid } from '../../sandbox/world/kinds.ts'
import { buildCluster } from '../../sandbox/world/managed.ts'
import { buildLoadBalancer, buildVolume } from '../../sandbox/world/network.ts'
import { companyParts } from '../../sandbox/world/small-company.ts'
import {
  addResource,
  createWorld,
  destroyDroplet,
  replaceDroplet,
  type World,
} from '../../sandbox/world/world.ts'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import { ago } from './planted-waste.ts'

const region = mustFind(findRegion('nyc3'), 'nyc3')
const ubuntu = mustFind(findPublicImage('ubuntu-24-04-x64'), 'ubuntu-24-04-x64')
const PROJECT = { acme: namedUuid('project:acme'), globex: namedUuid('project:globex') }

/** The deployments that tags tie droplets and volumes to, and a run that is making one. */
export interface Ties {
  /** 48 dollars a month for two droplets and one volume, no more. */
  fixed: string
  /** 10 dollars, and 5 cents an hour for each droplet; volumes have a price too, clusters one that is not the plan's. */
  metered: string
  /** Nothing. */
  free: string
  /** As `fixed`, with two addons of 10 dollars that add a droplet each. */
  raised: string
  sagaUnderWay: string
}

/** Its projects, and nothing in them yet. */
export const emptyAccount = (): World => createWorld(companyParts(new Date(ago(60))))

/** How the account was five days before; what the provider calls its droplets. */
export function plant(world: World, ties: Ties): Map<string, number> {
  const droplets = new Map<string, number>()
  const tie = (deployment: string) => [`deployment:${deployment}`]
  type Fields = {
    size?: string
    image?: Image
    status?: Droplet['status']
    tags?: string[]
    owner?: 'acme' | 'globex'
  }
  const droplet = (
    name: string,
    { size = 's-1vcpu-1gb', image = ubuntu, owner = 'acme', ...fields }: Fields = {},
  ) => {
    const id = 1_000 + droplets.size
    droplets.set(name, id)
    const item = buildDroplet({
      id,
      name,
      region,
      size: mustFind(findSize(size), size),
      image,
      createdAt: ago(400),
      ...fields,
    })
    addResource(world, 'droplet', item, { projectId: PROJECT[owner], now: new Date(ago(400)) })
    return id
  }
  const off = { status: 'off' as const }

  const web = droplet('web', { tags: ['web'] })
  const offForLong = droplet('off-for-long', { ...off, size: 's-2vcpu-2gb' })
  droplet('off-three-days', { size: 's-1vcpu-2gb' })
  droplet('off-since-yesterday')
  droplet('off-on-and-off', off)
  droplet('off-and-deleted', off)
  const deleted = droplet('deleted')
  const missing = droplet('missing')
  droplet('being-made', { ...off, tags: [`saga:${ties.sagaUnderWay}`] })
  droplet('on-in-pool', { tags: ['mixed-pool'] })
  droplet('off-in-pool', { ...off, tags: ['mixed-pool', 'off-pool'] })
  const elsewhere = droplet('of-globex', { owner: 'globex' })
  droplet('node', { tags: [`k8s:${namedUuid('scaling')}`, 'k8s'] })

  const image = (
    id: number,
    name: string,
    days: number,
    gigabytes: number,
    type: 'custom' | 'snapshot' | 'backup',
  ) =>
    addResource(
      world,
      'image',
      buildImage({ id, name, region: 'nyc3', createdAt: ago(days), type, gigabytes }),
      { now: new Date(ago(days)) },
    )
  image(501, 'unused', 300, 2.5, 'custom')
  image(502, 'half-a-year', 180, 10, 'custom')
  image(503, 'not-quite-half-a-year', 179, 10, 'custom')
  droplet('of-own-image', { image: image(504, 'used', 300, 10, 'custom') })
  image(505, 'a-snapshot-once-more', 300, 10, 'snapshot')
  image(506, 'a-backup', 300, 10, 'backup')

  const snapshot = (id: string, name: string, days: number, gigabytes: number, source: number | string) => {
    const of = {
      kind: typeof source === 'number' ? ('droplet' as const) : ('volume' as const),
      id: String(source),
    }
    const item = buildSnapshot({ id, name, region: 'nyc3', createdAt: ago(days), of, gigabytes })
    addResource(world, 'snapshot', item, { now: new Date(ago(days)) })
  }
  snapshot('601', 'old', 200, 50.5, web)
  snapshot('602', 'ninety-days', 90, 10, web)
  snapshot('603', 'eighty-nine-days', 89, 10, web)
  snapshot('604', 'of-deleted', 30, 20, deleted)
  snapshot(namedUuid('605'), 'of-unknown-volume', 200, 10, namedUuid('no volume'))
  snapshot('606', 'of-missing', 30, 10, missing)
  snapshot('607', 'of-deleted-but-used', 200, 10, deleted)
  snapshot('608', 'newer-than-the-listing', 0.5, 10, 9_999)
  snapshot(namedUuid('609'), 'newer-than-the-listing-of-volumes', 1.5, 10, namedUuid('new volume'))
  snapshot('610', 'old-but-used', 200, 10, web)
  for (const id of [607, 610]) {
    const image = buildImage({ id, name: 'x', region: 'nyc3', createdAt: ago(200), type: 'snapshot' })
    droplet(`of-own-snapshot-${id}`, { image })
  }

  droplet('too-large', { size: 's-8vcpu-16gb', tags: tie(ties.fixed) })
  droplet('just-fits', { size: 's-4vcpu-8gb', tags: tie(ties.fixed) })
  droplet('paid-for', { size: 's-2vcpu-4gb', tags: tie(ties.metered) })
  droplet('paid-for-in-part', { size: 'c-4', tags: tie(ties.metered) })
  droplet('on-a-free-plan', { size: 's-8vcpu-16gb', tags: tie(ties.free) })
  droplet('raised-1', { size: 'g-2vcpu-8gb', tags: tie(ties.raised) })
  droplet('raised-2', { tags: tie(ties.raised) })
  droplet('raised-3', { tags: tie(ties.raised) })

  const volume = (
    name: string,
    gigabytes: number,
    days: number,
    fields: { dropletIds?: number[]; tags?: string[] } = {},
    more = {},
  ) =>
    addResource(
      world,
      'volume',
      {
        ...buildVolume({ id: namedUuid(name), name, region, gigabytes, createdAt: ago(days), ...fields }),
        ...more,
      },
      { projectId: PROJECT.acme, now: new Date(ago(days)) },
    )
  volume('loose', 100, 40)
  volume('loose-null', 5.5, 40, {}, { droplet_ids: null })
  volume('loose-of-odd-size', 1, 40, {}, { size_gigabytes: '100' })
  volume('attached-in-another-project', 100, 40, { dropletIds: [elsewhere] })
  volume('attached-to-one-that-is-off', 100, 40, { dropletIds: [offForLong] })
  volume('of-unsaid-droplets', 100, 40, {}, { droplet_ids: undefined })
  volume('of-odd-droplets', 100, 40, {}, { droplet_ids: 'none' })
  volume('first-volume', 10, 50, { dropletIds: [web], tags: tie(ties.fixed) })
  volume('second-volume', 20, 45, { dropletIds: [web], tags: tie(ties.fixed) })
  volume('paid-volume', 20, 45, { dropletIds: [web], tags: tie(ties.metered) })

  const address = (ip: string, droplet_id: number | null) =>
    addResource(
      world,
      'reserved_ip',
      { ip, region, locked: false, project_id: PROJECT.acme, droplet_id },
      { projectId: PROJECT.acme, now: new Date(ago(40)) },
    )
  address('198.51.100.1', null)
  address('198.51.100.2', web)
  address('198.51.100.3', offForLong)
  addResource(
    world,
    'reserved_ipv6',
    { ip: '2001:db8::1', region_slug: 'nyc3', reserved_at: ago(40), droplet_id: null },
    { now: new Date(ago(40)) },
  )

  type Balanced = { dropletIds?: number[]; tag?: string; sizeUnit?: number; status?: 'new' | 'active' }
  const balancer = (name: string, fields: Balanced, more = {}) => {
    const item = buildLoadBalancer({
      ...{
        id: namedUuid(name),
        name,
        region,
        createdAt: ago(40),
        projectId: PROJECT.acme,
        ip: '198.51.100.9',
      },
      ...fields,
    })
    addResource(
      world,
      'load_balancer',
      { ...item, ...more },
      { projectId: PROJECT.acme, now: new Date(ago(40)) },
    )
  }
  balancer('serves-nobody', { sizeUnit: 2 })
  balancer('serves-one-off', { dropletIds: [offForLong] })
  balancer('serves-one-unknown', { dropletIds: [9_999] })
  balancer('serves-one-deleted', { dropletIds: [deleted] })
  balancer('serves-pool-off', { tag: 'off-pool' })
  balancer('global-to-nothing', {}, { type: 'GLOBAL', target_load_balancer_ids: [] })
  balancer('serves-one-running', { dropletIds: [offForLong, web] })
  balancer('serves-pool-half-off', { tag: 'mixed-pool' })
  balancer('serves-one-missing', { dropletIds: [missing] })
  balancer('serves-nodes', { tag: `k8s:${namedUuid('scaling')}` })
  balancer('just-begun', { status: 'new' })
  balancer(
    'global-to-another',
    {},
    { type: 'GLOBAL', target_load_balancer_ids: [namedUuid('serves-one-running')] },
  )
  balancer('of-odd-droplets', {}, { droplet_ids: 'all' })

  const cluster = (name: string, counts: number[], ha: boolean, more = {}, tags: string[] = []) => {
    const pools = counts.map((count, index) => ({ name: `pool-${index}`, size: 's-1vcpu-2gb', count }))
    const item = buildCluster({
      id: namedUuid(name),
      name,
      region: 'nyc3',
      version: '1.33.1-do.0',
      createdAt: ago(40),
      pools,
      tags,
    })
    addResource(
      world,
      'kubernetes_cluster',
      { ...item, ha, ...more },
      { projectId: PROJECT.acme, now: new Date(ago(40)) },
    )
  }
  cluster('ha-without-nodes', [0, 0], true)
  cluster('without-pools', [], false)
  cluster('busy', [0, 2], true, {}, tie(ties.metered))
  cluster('scaling', [0], true)
  cluster('of-odd-pools', [], true, { node_pools: 'none' })

  return droplets
}

/** What the days brought, with a sweep at each of these times: of the droplets, unless other kinds are named. */
export const DAYS: {
  at: string
  kinds?: readonly Kind[]
  happen?(world: World, id: (name: string) => number): void
}[] = [
  { at: ago(5) },
  {
    at: ago(4.9),
    happen(world, id) {
      // The provider has not taken it out of the load balancer yet.
      const balancer = world.shelves.load_balancer.get(namedUuid('serves-one-deleted'))!
      for (const name of ['deleted', 'off-and-deleted']) destroyDroplet(world, 'droplet', id(name))
      world.shelves.load_balancer.replace(balancer)
      turn(world, id('off-on-and-off'), 'active')
    },
  },
  { at: ago(4.8) },
  { at: ago(4.7) },
  { at: ago(3), happen: (world, id) => turn(world, id('off-three-days'), 'off') },
  {
    at: ago(2),
    kinds: ['volume', 'snapshot', 'image', 'load_balancer', 'reserved_ip', 'kubernetes_cluster'],
  },
  {
    at: ago(1),
    happen(world, id) {
      for (const name of ['off-since-yesterday', 'off-on-and-off']) turn(world, id(name), 'off')
      world.shelves.droplet.remove(String(id('missing')))
    },
  },
]

function turn(world: World, id: number, status: Droplet['status']): void {
  replaceDroplet(world, { ...world.shelves.droplet.get(String(id))!, status })
}
