// An account that nobody has seen before: some hundred resources of all kinds in a handful of projects, made of a seed.
import { generated } from '../../../sandbox/world/generated.ts'
import type { World } from '../../../sandbox/world/world.ts'

export const newAccount = (seed: number, startedAt: Date, share = 1): World =>
  generated({
    seed,
    startedAt,
    projects: 6,
    droplets: Math.ceil(140 * share),
    gpuDroplets: 4,
    volumes: Math.ceil(70 * share),
    snapshots: Math.ceil(40 * share),
    images: Math.ceil(25 * share),
    loadBalancers: Math.ceil(12 * share),
    reservedIps: Math.ceil(40 * share),
    reservedIpv6: 4,
    firewalls: Math.ceil(16 * share),
    vpcs: Math.ceil(12 * share),
    domains: Math.ceil(30 * share),
    sshKeys: Math.ceil(14 * share),
    databases: Math.ceil(14 * share),
    clusters: Math.ceil(6 * share),
    apps: Math.ceil(12 * share),
    registries: 2,
  })
