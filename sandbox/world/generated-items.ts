// Decides what item number i of each kind looks like in a generated world, and how its id leads back to i.

import { findPublicImage, mustFind, regions, sizes } from './catalogue.ts'
import type { LazyBase } from './collection.ts'
import { buildDroplet, buildImage, buildSnapshot } from './compute.ts'
import { type GeneratedCounts, identity, plural } from './generated-identity.ts'
import { namedUuid } from './ids.ts'
import { type Items, type Kind, kindNames } from './kinds.ts'
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
