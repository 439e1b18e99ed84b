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

/** What has to hold of the attribute at a path, or of the name where none is given: of an address that is all there is of it. */
export interface PriceCondition {
  at?: readonly string[]
  is?: string | boolean
  /** There is no object: nothing is tied to it. */
  isNoObject?: true
  /** As a text, it is without this. */
  without?: string
}

export interface PriceRule {
  kind: string
  sku: Sku
  /** The attribute that says how many of it, and how many there are where it says nothing; without one it is one. */
  quantity?: string
  otherwise?: number
  where?: readonly PriceCondition[]
}

/**
 * By what a resource is priced: the first rule of its kind that holds. What has none costs nothing by itself, or is priced in
 * another way. Rules are data, so that the database can price resources by the same ones.
 */
export const PRICE_RULES: readonly PriceRule[] = [
  { kind: 'volume', sku: 'volume-gib', quantity: 'size_gigabytes' },
  { kind: 'snapshot', sku: 'snapshot-gib', quantity: 'size_gigabytes' },
  // A droplet's snapshot is listed as an image once more.
  {
    kind: 'image',
    sku: 'image-gib',
    quantity: 'size_gigabytes',
    where: [{ at: ['type'], is: 'custom' }],
  },
  { kind: 'load_balancer', sku: 'global-load-balancer', where: [{ at: ['type'], is: 'GLOBAL' }] },
  {
    kind: 'load_balancer',
    sku: 'network-load-balancer-node',
    quantity: 'size_unit',
    otherwise: 1,
    where: [{ at: ['type'], is: 'REGIONAL_NETWORK' }],
  },
  { kind: 'load_balancer', sku: 'load-balancer-node', quantity: 'size_unit', otherwise: 1 },
  // Those of IPv6 are free.
  {
    kind: 'reserved_ip',
    sku: 'reserved-ip-unassigned',
    where: [{ without: ':' }, { at: ['droplet'], isNoObject: true }],
  },
  { kind: 'kubernetes_cluster', sku: 'kubernetes-ha', where: [{ at: ['ha'], is: true }] },
  { kind: 'registry', sku: 'registry-basic', where: [{ at: ['subscription', 'tier', 'slug'], is: 'basic' }] },
  {
    kind: 'registry',
    sku: 'registry-professional',
    where: [{ at: ['subscription', 'tier', 'slug'], is: 'professional' }],
  },
]

/** By how many of what a resource is priced. */
export interface Priced {
  sku: Sku
  /** An exact decimal. */
  quantity: string
}

/** Null for what costs nothing by itself, and for what is priced in another way. */
export function listPriceOf(kind: string, attrs: Record<string, unknown>, name: string): Priced | null {
  const rule = PRICE_RULES.find(
    ({ kind: its, where = [] }) => its === kind && where.every(condition => holds(condition, attrs, name)),
  )
  if (!rule) return null
  const { sku, quantity, otherwise } = rule
  return counted(sku, quantity === undefined ? 1 : (attrs[quantity] ?? otherwise))
}

function holds(
  { at, is, isNoObject, without }: PriceCondition,
  attrs: Record<string, unknown>,
  name: string,
): boolean {
  const value = at
    ? at.reduce<unknown>((inside, member) => (isRecord(inside) ? inside[member] : undefined), attrs)
    : name
  if (is !== undefined) return value === is
  if (isNoObject) return !isRecord(value)
  return without === undefined || !String(value ?? '').includes(without)
}

/** More than anything has. */
export const MOST_PRICED = 1_000_000_000

const counted = (sku: Sku, quantity: unknown): Priced | null =>
  typeof quantity === 'number' && quantity > 0 && quantity <= MOST_PRICED
    ? { sku, quantity: String(quantity) }
    : null
