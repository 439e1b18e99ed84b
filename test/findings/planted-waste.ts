// The labels of the wasteful account: what is planted in it, found by which check, at what price.

/** When the account is looked at. */
export const NOW = '2026-11-15T12:00:00.000Z'
const DAY = 86_400_000
export const ago = (days: number): string =>
  new Date(Date.parse(NOW) - Math.round(days * DAY)).toISOString().replace('.000Z', 'Z')

/** Check, name and cents a month of what is planted. */
export const PLANTED: [check: string, name: string, cents: number][] = [
  ['volume_unattached', 'loose', 1_000],
  ['volume_unattached', 'loose-null', 55],
  ['volume_unattached', 'loose-of-odd-size', 0],
  ['reserved_ip_unassigned', '198.51.100.1', 500],
  ['droplet_off', 'off-for-long', 1_800],
  ['droplet_off', 'off-in-pool', 600],
  ['snapshot_old', 'old', 303],
  ['snapshot_orphaned', 'of-deleted', 120],
  ['snapshot_orphaned', 'of-unknown-volume', 60],
  ['image_old', 'unused', 15],
  ['load_balancer_without_backend', 'serves-nobody', 2_400],
  ['load_balancer_without_backend', 'serves-one-off', 1_200],
  ['load_balancer_without_backend', 'serves-one-deleted', 1_200],
  ['load_balancer_without_backend', 'serves-one-unknown', 1_200],
  ['load_balancer_without_backend', 'serves-pool-off', 1_200],
  ['load_balancer_without_backend', 'global-to-nothing', 1_500],
  ['load_balancer_without_backend', 'global-to-one-gone', 1_500],
  ['kubernetes_cluster_without_nodes', 'ha-without-nodes', 4_000],
  ['kubernetes_cluster_without_nodes', 'without-pools', 0],
  ['size_above_plan', 'too-large', 4_800],
  ['size_above_plan', 'paid-for-in-part', 200],
  ['resources_above_plan', 'second-volume', 200],
]

/** What is a millisecond short of its policy's limit before `NOW`. */
export const ON_THE_LIMIT: typeof PLANTED = [
  ['droplet_off', 'off-three-days', 1_200],
  ['snapshot_old', 'ninety-days', 60],
  ['image_old', 'half-a-year', 60],
]
