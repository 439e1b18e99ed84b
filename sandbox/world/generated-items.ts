// Decides what item number i of each kind looks like in a generated world, and how its id leads back to i.
import { findPublicImage, mustFind, regions, sizes } from './catalogue.ts'
import type { LazyBase } from './collection.ts'
import { buildDroplet, buildImage, buildSnapshot } from './compute.ts'
import { type Items, type Kind, kindNames, namedUuid } from './kinds.ts'
import { buildApp, buildCluster, buildDatabase, buildRegistry } from './managed.ts'
import {
  buildDomain,
  buildFirewall,
  buildLoadBalancer,
  buildSshKey,
  buildVolume,
  buildVpc,
} from './network.ts'

const SINCE = '2026-01-05T08:00:00Z'

/** How often item i was changed since the world began. */
export type Revisions = (kind: Kind, index: number) => number

export type GeneratedBase<T> = LazyBase<T> & { idAt(index: number): string }

export type GeneratedBases = { [K in Kind]?: GeneratedBase<Items[K]> }

/** A small, well-mixed number from index and seed. */
function mix(index: number, seed: number): number {
  let value = Math.imul(index ^ Math.imul(seed, 0x9e3779b1), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

const pick = <T>(list: readonly T[], number: number): T => list[number % list.length]!

const plainSizes = sizes.filter(size => size.gpu_info === undefined)
const gpuSize = mustFind(
  sizes.find(size => size.gpu_info !== undefined),
  'GPU size',
)
const image = mustFind(findPublicImage('ubuntu-24-04-x64'), 'ubuntu-24-04-x64')
const environments = ['prod', 'staging', 'dev'] as const

export function generatedBases(counts: GeneratedCounts, seed: number, revisions: Revisions): GeneratedBases {
  const projectId = namedUuid('generated-project:platform')
  const at = regionOf(seed)
  const named = (word: string, index: number) => `${word}-${String(index).padStart(7, '0')}`
  const make: { [K in Kind]: (index: number, id: string) => Items[K] } = {
    droplet: (index, id) =>
      buildDroplet({
        id: Number(id),
        name: named('vm', index),
        region: at(index),
        size: pick(plainSizes, mix(index, seed) + revisions('droplet', index)),
        image,
        createdAt: SINCE,
        tags: ['generated', `env:${pick(environments, mix(index, seed + 1))}`],
      }),
    gpu_droplet: (index, id) =>
      buildDroplet({
        id: Number(id),
        name: named('gpu', index),
        region: mustFind(
          regions.find(region => region.slug === 'tor1'),
          'tor1',
        ),
        size: gpuSize,
        image,
        createdAt: SINCE,
        tags: ['generated'],
      }),
    volume: (index, id) =>
      buildVolume({
        id,
        name: named('volume', index),
        region: at(index),
        gigabytes: 10 * (1 + (mix(index, seed) % 50) + revisions('volume', index)),
        createdAt: SINCE,
        tags: ['generated'],
      }),
    snapshot: (index, id) =>
      buildSnapshot({
        id,
        name: named('snapshot', index),
        region: at(index).slug,
        createdAt: SINCE,
        of: { kind: 'volume', id: identity('volume', seed).idAt(index) },
      }),
    image: (index, id) =>
      buildImage({
        id: Number(id),
        name: named('image', index),
        region: at(index).slug,
        createdAt: SINCE,
        type: 'custom',
      }),
    load_balancer: (index, id) =>
      buildLoadBalancer({
        id,
        name: named('lb', index),
        region: at(index),
        createdAt: SINCE,
        projectId,
        ip: `100.128.${(index >> 8) & 255}.${index & 255}`,
      }),
    reserved_ip: (index, id) => ({
      ip: id,
      region: at(index),
      locked: false,
      project_id: projectId,
      droplet_id: null,
    }),
    reserved_ipv6: (index, id) => ({
      ip: id,
      region_slug: at(index).slug,
      reserved_at: SINCE,
      droplet_id: null,
    }),
    firewall: (index, id) => buildFirewall({ id, name: named('firewall', index), createdAt: SINCE }),
    vpc: (index, id) =>
      buildVpc({
        id,
        name: named('vpc', index),
        region: at(index).slug,
        ipRange: `10.${index & 255}.0.0/20`,
        createdAt: SINCE,
      }),
    domain: (_index, id) => buildDomain(id),
    ssh_key: (index, id) => buildSshKey(Number(id), named('key', index)),
    database: (index, id) =>
      buildDatabase({
        id,
        name: named('db', index),
        engine: 'pg',
        version: '17',
        size: 'db-s-1vcpu-2gb',
        region: at(index).slug,
        nodes: 1,
        createdAt: SINCE,
        projectId,
      }),
    kubernetes_cluster: (index, id) =>
      buildCluster({
        id,
        name: named('k8s', index),
        region: at(index).slug,
        version: '1.33.1-do.2',
        createdAt: SINCE,
        pools: [{ name: 'pool', size: 's-2vcpu-4gb', count: 2 }],
      }),
    app: (index, id) =>
      buildApp({ id, name: named('app', index), region: 'nyc', createdAt: SINCE, projectId }),
    registry: (_index, id) => buildRegistry(id, 'nyc3', SINCE),
  }
  const bases: Partial<Record<Kind, unknown>> = {}
  for (const kind of kindNames) {
    const count = counts[plural[kind]] ?? 0
    if (count > 0) bases[kind] = lazy<unknown>(kind, count, seed, make[kind])
  }
  return bases as GeneratedBases
}

const regionOf = (seed: number) => (index: number) => pick(regions, mix(index, seed + 2))

export const generatedTags = new Set(['generated', ...environments.map(name => `env:${name}`)])

function lazy<T>(
  kind: Kind,
  count: number,
  seed: number,
  make: (index: number, id: string) => T,
): GeneratedBase<T> {
  const ids = identity(kind, seed)
  return {
    count,
    idAt: index => ids.idAt(index),
    indexOf: id => ids.indexOf(id),
    at: index => make(index, ids.idAt(index)),
    candidates({ tag, name }) {
      if (tag !== undefined && !generatedTags.has(tag)) return []
      if (name === undefined) return undefined
      const index = Number(/-(\d+)$/.exec(name)?.[1] ?? -1)
      return index >= 0 && index < count ? [index] : []
    },
  }
}

// Decides how many of each kind a generated world has and which id item number i gets, so that an id
// leads back to i without a table of ids.

export const plural = {
  droplet: 'droplets',
  gpu_droplet: 'gpuDroplets',
  volume: 'volumes',
  snapshot: 'snapshots',
  image: 'images',
  load_balancer: 'loadBalancers',
  reserved_ip: 'reservedIps',
  reserved_ipv6: 'reservedIpv6',
  firewall: 'firewalls',
  vpc: 'vpcs',
  domain: 'domains',
  ssh_key: 'sshKeys',
  database: 'databases',
  kubernetes_cluster: 'clusters',
  app: 'apps',
  registry: 'registries',
} as const satisfies Record<Kind, string>

export type GeneratedCounts = { [K in Kind as (typeof plural)[K]]?: number }

/** The id of item i, and back. Numbers count up from a base of their own; UUIDs carry i in their tail. */
export function identity(
  kind: Kind,
  seed: number,
): { idAt(index: number): string; indexOf(id: string): number } {
  const order = kindNames.indexOf(kind) + 1
  const affixed = (prefix: string, suffix: string, digits: number) => ({
    idAt: (index: number) => `${prefix}${String(index).padStart(digits, '0')}${suffix}`,
    indexOf(id: string) {
      const middle = id.slice(prefix.length, suffix === '' ? undefined : -suffix.length)
      const index = /^\d+$/.test(middle) ? Number(middle) : -1
      return index >= 0 && this.idAt(index) === id ? index : -1
    },
  })
  switch (kind) {
    case 'droplet':
    case 'gpu_droplet':
    case 'image':
    case 'ssh_key': {
      const from = order * 20_000_000
      return {
        idAt: index => String(from + index),
        indexOf: id => (/^\d+$/.test(id) ? Number(id) - from : -1),
      }
    }
    case 'domain':
      return affixed('zone-', '.example', 6)
    case 'registry':
      return affixed('registry-', '', 4)
    case 'reserved_ipv6':
      return {
        idAt: index =>
          `2001:db8:1::${(index + 1).toString(16)}`.replace(/([0-9a-f]+)([0-9a-f]{4})$/, '$1:$2'),
        indexOf(id) {
          const tail = /^2001:db8:1::([0-9a-f:]+)$/.exec(id)?.[1]?.replace(':', '') ?? ''
          const index = Number.parseInt(tail, 16) - 1
          return Number.isNaN(index) || this.idAt(index) !== id ? -1 : index
        },
      }
    case 'reserved_ip':
      return {
        idAt: index => `100.${64 + ((index >> 16) & 63)}.${(index >> 8) & 255}.${index & 255}`,
        indexOf(id) {
          const [, b, c, d] = id.split('.').map(Number)
          const index = ((b! - 64) << 16) | (c! << 8) | d!
          return this.idAt(index) === id ? index : -1
        },
      }
    default: {
      const head = `${order.toString(16).padStart(8, '0')}-${(seed & 0xffff).toString(16).padStart(4, '0')}-5000-8000-`
      return {
        idAt: index => head + index.toString(16).padStart(12, '0'),
        indexOf: id => (id.startsWith(head) ? Number.parseInt(id.slice(head.length), 16) : -1),
      }
    }
  }
}
