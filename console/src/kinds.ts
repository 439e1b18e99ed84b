import type { Schemas } from './api.ts'

/** Kinds of resources, as filters offer them. */
export const KINDS = [
  'droplet',
  'volume',
  'snapshot',
  'image',
  'load_balancer',
  'reserved_ip',
  'firewall',
  'vpc',
  'domain',
  'ssh_key',
  'database',
  'kubernetes_cluster',
  'app',
  'registry',
] as const satisfies Schemas['Resource']['kind'][]
