// What the provider lists for resources that no endpoint prices: a fixed price a month, each of what it counts. Droplets are
// not here (sizes.ts), nor what is priced by plans of its own: databases and apps.
import { isRecord } from './responses.ts'

/**
 * US dollars a month as exact decimals, and what they are for, on 2026-11-16. Snapshots, images, registries and the control
 * plane were read off the provider's pages of those products; volumes, load balancers and addresses are as generally known, and
 * not checked against a page of that day.
 */
export const LIST_PRICES = {
  /** A GiB of block storage. */
  'volume-gib': '0.10',
  /** A GiB of a snapshot, of a droplet or a volume. */
  'snapshot-gib': '0.06',
  /** A GiB of a custom image. */
  'image-gib': '0.06',
  /** A node of a regional load balancer, */
  'load-balancer-node': '12',
  /** of one that passes connections on as they are, */
  'network-load-balancer-node': '15',
  /** and a global one. */
  'global-load-balancer': '15',
  /** An address that is tied to no droplet; one that is costs nothing. */
  'reserved-ip-unassigned': '5',
  /** A cluster whose control plane is highly available; its nodes are droplets. */
  'kubernetes-ha': '40',
  'registry-basic': '5',
  'registry-professional': '20',
} as const

export type Sku = keyof typeof LIST_PRICES

/** By how many of what a resource is priced. */
export interface Priced {
  sku: Sku
  /** An exact decimal. */
  quantity: string
}

/** Null for what costs nothing by itself, and for what is priced in another way. */
export function listPriceOf(kind: string, attrs: Record<string, unknown>): Priced | null {
  switch (kind) {
    case 'volume':
      return counted('volume-gib', attrs.size_gigabytes)
    case 'snapshot':
      return counted('snapshot-gib', attrs.size_gigabytes)
    case 'image':
      // A droplet's snapshot is listed as an image once more.
      return attrs.type === 'custom' ? counted('image-gib', attrs.size_gigabytes) : null
    case 'load_balancer':
      if (attrs.type === 'GLOBAL') return counted('global-load-balancer', 1)
      return counted(
        attrs.type === 'REGIONAL_NETWORK' ? 'network-load-balancer-node' : 'load-balancer-node',
        attrs.size_unit ?? 1,
      )
    case 'reserved_ip':
      // Those of IPv6 are free.
      if (String(attrs.ip ?? '').includes(':')) return null
      return isRecord(attrs.droplet) ? null : counted('reserved-ip-unassigned', 1)
    case 'kubernetes_cluster':
      return attrs.ha === true ? counted('kubernetes-ha', 1) : null
    case 'registry':
      return registryPrice(attrs)
    default:
      return null
  }
}

function registryPrice({ subscription }: Record<string, unknown>): Priced | null {
  const tier = isRecord(subscription) && isRecord(subscription.tier) ? subscription.tier.slug : undefined
  if (tier === 'basic') return counted('registry-basic', 1)
  return tier === 'professional' ? counted('registry-professional', 1) : null
}

const MOST = 1_000_000_000

const counted = (sku: Sku, quantity: unknown): Priced | null =>
  typeof quantity === 'number' && quantity > 0 && quantity <= MOST
    ? { sku, quantity: String(quantity) }
    : null
