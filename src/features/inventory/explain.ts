// Which of the provider's actions made a change: by what an action of its type changes. Pure.
import type { Kind, ProviderAction } from '../../integrations/digitalocean/index.ts'
import type { Changes } from './resource.ts'

/** An action as an event names it. */
export interface NamedAction {
  id: number
  type: string
  at: string | null
  region: string | null
}

const POWER = ['status', 'attrs.locked']
const VOLUME = ['attrs.droplet_ids', 'attrs.volume_ids']

/** What actions of each type change, as far as it is known. A type that is not here may have changed anything. */
export const CHANGED_BY: Record<string, readonly string[]> = {
  rename: ['name', 'attrs.locked'],
  resize: [
    'attrs.size_slug',
    'attrs.memory',
    'attrs.vcpus',
    'attrs.disk',
    'attrs.disk_info',
    'attrs.locked',
    ...POWER,
  ],
  power_on: POWER,
  power_off: POWER,
  power_cycle: POWER,
  shutdown: POWER,
  reboot: POWER,
  password_reset: ['attrs.locked'],
  snapshot: ['attrs.snapshot_ids', ...POWER],
  enable_backups: ['attrs.features', 'attrs.backup_ids', 'attrs.locked'],
  disable_backups: ['attrs.features', 'attrs.backup_ids', 'attrs.locked'],
  enable_ipv6: ['attrs.features', 'attrs.networks', 'attrs.locked'],
  rebuild: ['attrs.image', 'attrs.kernel', ...POWER],
  restore: ['attrs.image', 'attrs.kernel', 'attrs.disk', ...POWER],
  attach_volume: VOLUME,
  detach_volume: VOLUME,
  resize_volume: ['attrs.size_gigabytes'],
  assign_ip: ['attrs.droplet', 'attrs.locked'],
  unassign_ip: ['attrs.droplet', 'attrs.locked'],
  // What was attached to it or pointed at it.
  destroy: ['attrs.droplet_ids', 'attrs.droplet'],
  transfer: ['region', 'attrs.regions', 'status'],
  convert: ['attrs.type', 'status'],
}

/** Actions that make a resource of their own kind, or of another. */
const MAKES: Record<string, readonly Kind[] | 'its own'> = {
  create: 'its own',
  convert: 'its own',
  transfer: 'its own',
  snapshot: ['snapshot', 'image'],
}

function makes({ type, kind: own }: ProviderAction, kind: Kind): boolean {
  const made = Object.hasOwn(MAKES, type) ? MAKES[type]! : []
  return made === 'its own' ? own === kind : made.includes(kind)
}

/** Of these, newest first, the one that explains it: null when none does. Without changes the resource is new. */
export function explaining(
  actions: readonly ProviderAction[],
  changes: Changes | null,
  kind: Kind,
): NamedAction | null {
  const found = actions.find(action => {
    if (changes === null) return makes(action, kind)
    const changed = Object.hasOwn(CHANGED_BY, action.type) ? CHANGED_BY[action.type]! : null
    return changed === null || changed.some(field => Object.hasOwn(changes, field))
  })
  return found ? { id: found.id, type: found.type, at: found.at, region: found.region } : null
}
