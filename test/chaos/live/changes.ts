// What people do with an account at the provider: made up at random, sent over the provider's own API where it has a way, and
// over the sandbox's control where it has none. Nothing is done twice at once with the same resource.
import { regions, sizes } from '../../../sandbox/world/catalogue.ts'
import type { Droplet, Items, Kind, ReservedIp, Volume } from '../../../sandbox/world/kinds.ts'
import type { World } from '../../../sandbox/world/world.ts'
import { mirrored } from './truth.ts'

export interface Doer {
  world: World
  random: () => number
  /** Another one each time. */
  number: () => number
  /** Whether the inventory has yet to show the last change of it. */
  isBusy(kind: string, id: string | number): boolean
  send(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }>
}

/** False: there is nothing to do it with. */
type Do = (doer: Doer) => Promise<boolean>

/** What leaves an action. */
const WITH_ACTION: Record<string, Do> = {
  'create a droplet': async doer => {
    const region = oneOf(doer, regions.slice(0, 5))!
    const size = oneOf(
      doer,
      small.filter(each => each.regions.includes(region.slug)),
    )
    if (!size) return false
    const body = {
      name: named(doer, 'made'),
      region: region.slug,
      size: size.slug,
      image: IMAGE,
      tags: ['live'],
    }
    return done(doer, 'POST', '/v2/droplets', body)
  },
  'destroy a droplet': async doer => {
    const droplet = free(doer, 'droplet', each => touches(doer, each).every(one => !doer.isBusy(...one)))
    return !!droplet && done(doer, 'DELETE', `/v2/droplets/${droplet.id}`)
  },
  'rename a droplet': doer =>
    dropletAction(
      doer,
      () => true,
      () => ({ type: 'rename', name: named(doer, 'renamed') }),
    ),
  'turn a droplet off or on': doer =>
    dropletAction(
      doer,
      () => true,
      ({ status }) => ({ type: status === 'off' ? 'power_on' : 'power_off' }),
    ),
  'resize a droplet': async doer => {
    const fits = (droplet: Droplet) =>
      small.find(
        ({ slug, disk, regions: where }) =>
          slug !== droplet.size_slug && disk >= droplet.disk && where.includes(droplet.region.slug),
      )
    return dropletAction(
      doer,
      each => each.status === 'off' && !!fits(each),
      each => ({ type: 'resize', size: fits(each)!.slug, disk: true }),
    )
  },
  'snapshot a droplet': doer =>
    dropletAction(
      doer,
      () => true,
      () => ({ type: 'snapshot', name: named(doer, 'shot') }),
    ),
  'switch backups': doer =>
    dropletAction(
      doer,
      () => true,
      ({ features }) => ({
        type: features.includes('backups') ? 'disable_backups' : 'enable_backups',
      }),
    ),
  'attach or detach a volume': async doer => {
    const volume = free(doer, 'volume')
    if (!volume) return false
    const [attached] = volume.droplet_ids ?? []
    const droplet =
      attached === undefined
        ? free(doer, 'droplet', each => each.region.slug === volume.region.slug && !each.locked)
        : doer.world.shelves.droplet.get(String(attached))
    if (!droplet || doer.isBusy('droplet', droplet.id)) return false
    const type = attached === undefined ? 'attach' : 'detach'
    return done(doer, 'POST', `/v2/volumes/${volume.id}/actions`, { type, droplet_id: droplet.id })
  },
  'grow a volume': async doer => {
    const volume = free(doer, 'volume')
    const size_gigabytes = (volume?.size_gigabytes ?? 0) + 10
    return (
      !!volume && done(doer, 'POST', `/v2/volumes/${volume.id}/actions`, { type: 'resize', size_gigabytes })
    )
  },
  'point an address at a droplet, or at none': async doer => {
    const address = free(doer, 'reserved_ip', ({ locked }) => !locked)
    const droplet = free(doer, 'droplet')
    if (!address || !droplet) return false
    const body =
      address.droplet_id === null ? { type: 'assign', droplet_id: droplet.id } : { type: 'unassign' }
    return done(doer, 'POST', `/v2/reserved_ips/${address.ip}/actions`, body)
  },
  'transfer an image': async doer => {
    const image = free(doer, 'image')
    const region = oneOf(
      doer,
      regions.filter(({ slug }) => !(image?.regions as string[])?.includes(slug)),
    )
    if (!image || !region) return false
    return done(doer, 'POST', `/v2/images/${image.id}/actions`, { type: 'transfer', region: region.slug })
  },
}

/** What leaves none. */
const WITHOUT: Record<string, Do> = {
  'tag a droplet': async doer => {
    const droplet = free(doer, 'droplet')
    const tag = `live:${named(doer, 'tag')}`
    if (!droplet || !(await done(doer, 'POST', '/v2/tags', { name: tag }))) return false
    const resources = [{ resource_id: String(droplet.id), resource_type: 'droplet' }]
    return done(doer, 'POST', `/v2/tags/${encodeURIComponent(tag)}/resources`, { resources })
  },
  'make a volume': doer =>
    done(doer, 'POST', '/v2/volumes', { name: named(doer, 'made'), size_gigabytes: 20, region: 'nyc3' }),
  'delete a volume': doer => remove(doer, 'volume', '/v2/volumes', ({ droplet_ids }) => !droplet_ids?.length),
  'snapshot a volume': async doer => {
    const volume = free(doer, 'volume')
    return !!volume && done(doer, 'POST', `/v2/volumes/${volume.id}/snapshots`, { name: named(doer, 'shot') })
  },
  'delete a snapshot': doer =>
    remove(doer, 'snapshot', '/v2/snapshots', ({ resource_type }) => resource_type === 'volume'),
  'rename an image': doer => patch(doer, 'image', () => ({ name: named(doer, 'renamed') })),
  'reserve an address': doer => done(doer, 'POST', '/v2/reserved_ips', { region: 'nyc3' }),
  'release an address': doer =>
    remove(doer, 'reserved_ip', '/v2/reserved_ips', ({ droplet_id }) => droplet_id === null),
  'make a firewall': doer =>
    done(doer, 'POST', '/v2/firewalls', { name: named(doer, 'wall'), ...rules(doer) }),
  'edit a firewall': async doer => {
    const wall = free(doer, 'firewall')
    return !!wall && done(doer, 'PUT', `/v2/firewalls/${wall.id}`, { name: wall.name, ...rules(doer) })
  },
  'delete a firewall': doer => remove(doer, 'firewall', '/v2/firewalls'),
  'make a load balancer': doer =>
    done(doer, 'POST', '/v2/load_balancers', {
      name: named(doer, 'balancer'),
      region: 'nyc3',
      forwarding_rules: [
        { entry_protocol: 'http', entry_port: 80, target_protocol: 'http', target_port: 80 },
      ],
    }),
  'resize a load balancer': doer =>
    patch(doer, 'load_balancer', ({ size_unit }) => ({ size_unit: (size_unit ?? 1) + 1 })),
  'make a domain': doer => done(doer, 'POST', '/v2/domains', { name: `${named(doer, 'zone')}.example` }),
  'edit a domain': doer => patch(doer, 'domain', ({ ttl }) => ({ ttl: (ttl ?? 1_800) + 60 })),
  'delete a domain': doer => remove(doer, 'domain', '/v2/domains'),
  'make a vpc': doer => done(doer, 'POST', '/v2/vpcs', { name: named(doer, 'net'), region: 'nyc3' }),
  'describe a vpc': doer => patch(doer, 'vpc', () => ({ description: named(doer, 'described') })),
  'add a key': doer =>
    done(doer, 'POST', '/v2/account/keys', {
      name: named(doer, 'key'),
      public_key: `ssh-ed25519 AAAA${named(doer, 'key').replaceAll('-', '')} live`,
    }),
  'delete a key': doer => remove(doer, 'ssh_key', '/v2/account/keys'),
  'make a database': doer =>
    done(doer, 'POST', '/v2/databases', {
      name: named(doer, 'db'),
      engine: 'pg',
      region: 'nyc3',
      size: 'db-s-1vcpu-2gb',
      num_nodes: 1,
    }),
  'resize a database': async doer => {
    const database = free(doer, 'database', ({ status }) => status === 'online')
    if (!database) return false
    const body = { size: 'db-s-2vcpu-4gb', num_nodes: ((database.num_nodes ?? 1) % 3) + 1 }
    return done(doer, 'PUT', `/v2/databases/${database.id}/resize`, body)
  },
  'delete a database': doer => remove(doer, 'database', '/v2/databases'),
  'upgrade a cluster': doer =>
    patch(doer, 'kubernetes_cluster', () => ({ version: `1.34.${Math.floor(doer.random() * 1e6)}-do.0` })),
  'make an app': doer => done(doer, 'POST', '/v2/apps', { spec: { name: named(doer, 'app') } }),
  'delete an app': doer => remove(doer, 'app', '/v2/apps'),
}

/** One of them, done; its name. */
export async function makeChange(doer: Doer): Promise<string> {
  for (;;) {
    // As many of the one sort as of the other.
    const ways = Object.entries(doer.random() < 0.5 ? WITH_ACTION : WITHOUT)
    const [name, act] = oneOf(doer, ways)!
    if (await act(doer)) return name
  }
}

const IMAGE = 'ubuntu-24-04-x64'
const small = sizes.filter(({ gpu_info }) => gpu_info === undefined)

const oneOf = <T>({ random }: Doer, list: readonly T[]): T | undefined =>
  list[Math.floor(random() * list.length)]

const named = ({ number }: Doer, word: string) => `live-${word}-${number()}`

/** One that is not waited for, and nothing that it takes along is. */
function free<K extends Kind>(
  doer: Doer,
  kind: K,
  suits: (item: Items[K]) => boolean = () => true,
): Items[K] | undefined {
  const shelf = doer.world.shelves[kind]
  const start = Math.floor(doer.random() * shelf.size)
  for (let n = 0; n < shelf.size; n++) {
    const item = shelf.at((start + n) % shelf.size)!
    if (!doer.isBusy(mirrored(kind), shelf.idOf(item)) && suits(item)) return item
  }
  return undefined
}

/** What a droplet's end changes too. */
function touches({ world }: Doer, { id }: Droplet): [string, string][] {
  const { volume, reserved_ip, firewall, load_balancer } = world.shelves
  const holds = ({ droplet_ids }: { droplet_ids?: number[] | null }) => !!droplet_ids?.includes(id)
  return [
    ...volume.filter((each: Volume) => holds(each)).map(each => ['volume', each.id] as [string, string]),
    ...reserved_ip
      .filter((each: ReservedIp) => each.droplet_id === id)
      .map(each => ['reserved_ip', each.ip] as [string, string]),
    ...firewall.filter(holds).map(each => ['firewall', each.id] as [string, string]),
    ...load_balancer.filter(holds).map(each => ['load_balancer', each.id] as [string, string]),
  ]
}

async function dropletAction(
  doer: Doer,
  suits: (droplet: Droplet) => boolean,
  body: (droplet: Droplet) => object,
): Promise<boolean> {
  const droplet = free(doer, 'droplet', each => !each.locked && suits(each))
  return !!droplet && done(doer, 'POST', `/v2/droplets/${droplet.id}/actions`, body(droplet))
}

async function remove<K extends Kind>(
  doer: Doer,
  kind: K,
  path: string,
  suits?: (item: Items[K]) => boolean,
): Promise<boolean> {
  const item = free(doer, kind, suits)
  return !!item && done(doer, 'DELETE', `${path}/${doer.world.shelves[kind].idOf(item)}`)
}

/** What the sandbox has no endpoint of the provider's for. */
async function patch<K extends Kind>(
  doer: Doer,
  kind: K,
  body: (item: Items[K]) => object,
): Promise<boolean> {
  const item = free(doer, kind)
  const id = item && encodeURIComponent(doer.world.shelves[kind].idOf(item))
  return !!item && done(doer, 'PATCH', `/__sandbox/resources/${kind}/${id}`, body(item))
}

const rules = ({ random }: Doer) => ({
  inbound_rules: [
    {
      protocol: 'tcp',
      ports: String(1_000 + Math.floor(random() * 60_000)),
      sources: { addresses: ['192.0.2.0/24'] },
    },
  ],
  outbound_rules: [{ protocol: 'tcp', ports: '0', destinations: { addresses: ['0.0.0.0/0'] } }],
})

/** What is refused is a mistake of this file's. */
async function done({ send }: Doer, method: string, path: string, body?: unknown): Promise<true> {
  const { status, text } = await send(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${status} ${text}`)
  return true
}
