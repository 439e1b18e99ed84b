// What a line is for, by its own words: the kind comes from the product, the name from a description of the form
// `name (size)`. Which resource of that kind and name is meant is decided where the resources are: match-repository.ts.
import { isIP } from 'node:net'
import { type Kind, kindNames } from '../../integrations/digitalocean/index.ts'

/** Products that are charged for resources of the inventory. */
const RESOURCES: Record<string, Kind> = {
  droplets: 'droplet',
  'gpu droplets': 'droplet',
  volumes: 'volume',
  'block storage': 'volume',
  snapshots: 'snapshot',
  'droplet snapshots': 'snapshot',
  'volume snapshots': 'snapshot',
  images: 'image',
  'custom images': 'image',
  'load balancers': 'load_balancer',
  'floating ips': 'reserved_ip',
  'reserved ips': 'reserved_ip',
  databases: 'database',
  'database clusters': 'database',
  'managed databases': 'database',
  kubernetes: 'kubernetes_cluster',
  'kubernetes clusters': 'kubernetes_cluster',
  'app platform': 'app',
  apps: 'app',
  'container registry': 'registry',
  'container registry subscription': 'registry',
  domains: 'domain',
}

/** Products with a shorter name. A backup is not its droplet, though it bears the droplet's name. */
const OTHERS: Record<string, string> = {
  backups: 'backup',
  'droplet backups': 'backup',
  taxes: 'tax',
  credits: 'credit',
}

const LONGEST_KIND = 64
const MOST_REMEMBERED = 1_000
const remembered = new Map<string, string>()

/** A kind of the inventory where the product is one; else a slug of the product. */
export function kindOf(product: string): string {
  const known = remembered.get(product)
  if (known !== undefined) return known
  const words = product.trim().toLowerCase().replace(/\s+/g, ' ')
  const named = Object.hasOwn(RESOURCES, words)
    ? RESOURCES[words]
    : Object.hasOwn(OTHERS, words)
      ? OTHERS[words]
      : undefined
  const kind = named ?? slugOf(words)
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(product, kind)
  return kind
}

function slugOf(words: string): string {
  const slug = words
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, LONGEST_KIND)
    .replace(/^_|_$/g, '')
  // A product nobody mapped must not pass for a resource: its lines would be matched to a stranger of that name.
  return slug === '' || INVENTORY.has(slug) ? `other_${slug}` : slug
}

const INVENTORY: ReadonlySet<string> = new Set(kindNames)

/** What the description calls the resource; null for lines that are no resource's, and where there is no name. */
export function nameOf(kind: string, description: string): string | null {
  if (!INVENTORY.has(kind)) return null
  if (kind === 'reserved_ip') return addressOf(description)
  // By hand, for a pattern that finds the last parentheses can take quadratic time.
  const close = description.lastIndexOf(')')
  const open = description.lastIndexOf('(', close)
  if (open < 1 || !isEnd(description.slice(close + 1).trim())) return null
  return description.slice(0, open).trim() || null
}

/** Volumes read `name (region) 100GB`. */
const isEnd = (rest: string) => rest === '' || (rest.length < 24 && /^[\d.,]+ ?[KMGT]i?B$/i.test(rest))

/** Addresses read `Unused Floating IP - 1.1.1.1`; an address is called by itself. */
function addressOf(description: string): string | null {
  const words = description.split(/[\s()]+/)
  return words.find(word => isIP(word) !== 0) ?? null
}
