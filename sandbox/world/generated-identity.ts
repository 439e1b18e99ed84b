// Decides how many of each kind a generated world has and which id item number i gets, so that an id
// leads back to i without a table of ids.
import { type Kind, kindNames } from './kinds.ts'

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
