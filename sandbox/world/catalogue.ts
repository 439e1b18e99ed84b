// Decides what can be ordered: the regions, droplet sizes and public images of the simulated provider.
// Slugs are real ones; the list is shorter than the provider's, and the prices are those of the examples.
import type { Image, Region, Size } from './kinds.ts'

type SizeRow = [slug: string, memory: number, vcpus: number, disk: number, transfer: number, monthly: number]

const sizeRows: SizeRow[] = [
  ['s-1vcpu-512mb-10gb', 512, 1, 10, 0.5, 4],
  ['s-1vcpu-1gb', 1024, 1, 25, 1, 6],
  ['s-1vcpu-2gb', 2048, 1, 50, 2, 12],
  ['s-2vcpu-2gb', 2048, 2, 60, 3, 18],
  ['s-2vcpu-4gb', 4096, 2, 80, 4, 24],
  ['s-4vcpu-8gb', 8192, 4, 160, 5, 48],
  ['s-8vcpu-16gb', 16384, 8, 320, 6, 96],
  ['c-2', 4096, 2, 25, 4, 42],
  ['c-4', 8192, 4, 50, 5, 84],
  ['g-2vcpu-8gb', 8192, 2, 25, 4, 63],
  ['g-4vcpu-16gb', 16384, 4, 50, 5, 126],
]

const plainSlugs = sizeRows.map(([slug]) => slug)

const regionRows: [slug: string, name: string, gpus: boolean][] = [
  ['nyc1', 'New York 1', false],
  ['nyc3', 'New York 3', false],
  ['sfo3', 'San Francisco 3', false],
  ['ams3', 'Amsterdam 3', false],
  ['fra1', 'Frankfurt 1', false],
  ['lon1', 'London 1', false],
  ['sgp1', 'Singapore 1', false],
  ['tor1', 'Toronto 1', true],
]

const GPU_SIZE = 'gpu-h100x1-80gb'

export const regions: readonly Region[] = regionRows.map(([slug, name, gpus]) => ({
  name,
  slug,
  features: ['backups', 'ipv6', 'metadata', 'install_agent', 'storage', 'image_transfer'],
  available: true,
  sizes: gpus ? [...plainSlugs, GPU_SIZE] : plainSlugs,
}))

const everywhere = regions.map(region => region.slug)

const hourly = (monthly: number) => Math.round((monthly / 672) * 100_000) / 100_000

export const sizes: readonly Size[] = [
  ...sizeRows.map(([slug, memory, vcpus, disk, transfer, monthly]) => ({
    slug,
    memory,
    vcpus,
    disk,
    transfer,
    price_monthly: monthly,
    price_hourly: hourly(monthly),
    regions: everywhere,
    available: true,
    description: slug.startsWith('s-')
      ? 'Basic'
      : slug.startsWith('c-')
        ? 'CPU-Optimized'
        : 'General Purpose',
    disk_info: [{ type: 'local' as const, size: { amount: disk, unit: 'gib' } }],
  })),
  {
    slug: GPU_SIZE,
    memory: 245_760,
    vcpus: 20,
    disk: 720,
    transfer: 15,
    price_monthly: 2522.16,
    price_hourly: 3.39,
    regions: ['tor1'],
    available: true,
    description: 'H100 GPU - 1X',
    disk_info: [
      { type: 'local', size: { amount: 720, unit: 'gib' } },
      { type: 'scratch', size: { amount: 5120, unit: 'gib' } },
    ],
    gpu_info: { count: 1, model: 'nvidia_h100', vram: { amount: 80, unit: 'gib' } },
  },
]

const imageRows: [id: number, slug: string, name: string, distribution: Image['distribution']][] = [
  [155_133_621, 'ubuntu-24-04-x64', '24.04 (LTS) x64', 'Ubuntu'],
  [129_211_873, 'ubuntu-22-04-x64', '22.04 (LTS) x64', 'Ubuntu'],
  [139_412_401, 'debian-12-x64', '12 x64', 'Debian'],
  [146_013_552, 'fedora-40-x64', '40 x64', 'Fedora'],
  [150_288_104, 'rockylinux-9-x64', '9 x64', 'Rocky Linux'],
  [160_944_237, 'gpu-h100x1-base', 'NVIDIA AI/ML Ready', 'Ubuntu'],
]

export const publicImages: readonly Image[] = imageRows.map(([id, slug, name, distribution]) => ({
  id,
  name,
  distribution,
  slug,
  public: true,
  regions: everywhere as Image['regions'],
  created_at: '2026-01-14T10:20:30Z',
  type: 'base',
  min_disk_size: 7,
  size_gigabytes: 2.36,
  description: `${distribution} ${name}`,
  tags: [],
  status: 'available',
  error_message: '',
}))

export const findRegion = (slug: string) => regions.find(region => region.slug === slug)
export const findSize = (slug: string) => sizes.find(size => size.slug === slug)
export const findPublicImage = (idOrSlug: string) =>
  publicImages.find(image => image.slug === idOrSlug || String(image.id) === idOrSlug)

/** For seeds, which name only what exists. */
export function mustFind<T>(found: T | undefined, word: string): T {
  if (found === undefined) throw new Error(`the catalogue has no ${word}`)
  return found
}
