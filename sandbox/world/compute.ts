// Decides what droplets, images and snapshots look like: one way to build each, for seeds, for generated
// worlds and for what is created over the API.
import type { Droplet, Image, Region, Size, Snapshot } from './kinds.ts'

export type DropletFields = {
  id: number
  name: string
  region: Region
  size: Size
  image: Image
  createdAt: string
  status?: Droplet['status']
  tags?: string[]
  vpcId?: string
  volumeIds?: string[]
  snapshotIds?: number[]
  features?: string[]
  backupWindow?: { start: string; end: string }
}

/** Public addresses come from the ranges set aside for tests and benchmarks. */
function addresses(id: number): Droplet['networks'] {
  return {
    v4: [
      {
        ip_address: `10.${(id >> 16) & 127}.${(id >> 8) & 255}.${id & 255}`,
        netmask: '255.255.0.0',
        gateway: '10.0.0.1',
        type: 'private',
      },
      {
        ip_address: `198.18.${(id >> 8) & 255}.${id & 255}`,
        netmask: '255.255.240.0',
        gateway: '198.18.0.1',
        type: 'public',
      },
    ],
    v6: [],
  }
}

export function buildDroplet(fields: DropletFields): Droplet {
  const { size } = fields
  const status = fields.status ?? 'active'
  return {
    id: fields.id,
    name: fields.name,
    memory: size.memory,
    vcpus: size.vcpus,
    disk: size.disk,
    disk_info: size.disk_info ?? [],
    locked: status === 'new',
    status,
    kernel: null,
    created_at: fields.createdAt,
    features: fields.features ?? ['droplet_agent', 'private_networking'],
    backup_ids: [],
    next_backup_window: fields.backupWindow ?? null,
    snapshot_ids: fields.snapshotIds ?? [],
    image: fields.image,
    volume_ids: fields.volumeIds ?? [],
    size,
    size_slug: size.slug,
    networks: status === 'new' ? { v4: [], v6: [] } : addresses(fields.id),
    region: fields.region,
    tags: fields.tags ?? [],
    ...(fields.vpcId === undefined ? {} : { vpc_uuid: fields.vpcId }),
    ...(size.gpu_info === undefined ? {} : { gpu_info: size.gpu_info }),
  }
}

/** A droplet once it has booted. */
export function booted(droplet: Droplet): Droplet {
  return { ...droplet, status: 'active', locked: false, networks: addresses(droplet.id) }
}

export function resized(droplet: Droplet, size: Size, growDisk: boolean): Droplet {
  return {
    ...droplet,
    memory: size.memory,
    vcpus: size.vcpus,
    disk: growDisk ? size.disk : droplet.disk,
    size,
    size_slug: size.slug,
  }
}

export const isGpu = (size: Size) => size.gpu_info !== undefined

export function buildImage(fields: {
  id: number
  name: string
  region: string
  createdAt: string
  type: 'snapshot' | 'custom' | 'backup'
  distribution?: Image['distribution']
  minDiskSize?: number
  gigabytes?: number
  tags?: string[]
  description?: string
}): Image {
  return {
    id: fields.id,
    name: fields.name,
    distribution: fields.distribution ?? 'Ubuntu',
    slug: null,
    public: false,
    regions: [fields.region] as Image['regions'],
    created_at: fields.createdAt,
    type: fields.type,
    min_disk_size: fields.minDiskSize ?? 25,
    size_gigabytes: fields.gigabytes ?? 2.34,
    description: fields.description ?? '',
    tags: fields.tags ?? [],
    status: 'available',
    error_message: '',
  }
}

export function buildSnapshot(fields: {
  id: string
  name: string
  region: string
  createdAt: string
  of: { kind: 'droplet' | 'volume'; id: string }
  minDiskSize?: number
  gigabytes?: number
  tags?: string[]
}): Snapshot {
  return {
    id: fields.id,
    name: fields.name,
    created_at: fields.createdAt,
    regions: [fields.region],
    resource_id: fields.of.id,
    resource_type: fields.of.kind,
    min_disk_size: fields.minDiskSize ?? 25,
    size_gigabytes: fields.gigabytes ?? 2.34,
    tags: fields.tags ?? [],
  }
}
