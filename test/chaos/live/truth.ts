// What really happens at the simulated provider: every change of every resource, its moment, and the action behind it. Taken
// from the world itself, and told in the inventory's words by a few lines that share none with the service.
import { type Action, kindNames, type Kind as SandboxKind } from '../../../sandbox/world/kinds.ts'
import { shelfOf, type World } from '../../../sandbox/world/world.ts'

export type Item = Record<string, unknown>
/** Field → value, as a reader of the inventory finds them. */
export type Fields = Record<string, unknown>

export interface Change {
  kind: string
  id: string
  at: number
  /** Null: gone. */
  after: Fields | null
  action: { id: number; type: string } | null
}

/** What the inventory calls it. */
export const mirrored = (kind: SandboxKind): string =>
  kind === 'gpu_droplet' ? 'droplet' : kind === 'reserved_ipv6' ? 'reserved_ip' : kind

export const keyOf = (kind: string, id: string) => `${kind}:${id}`

/** Kinds that actions are about, or that they make. */
export const WITH_ACTIONS = new Set(['droplet', 'volume', 'image', 'snapshot', 'reserved_ip'])

const ATTRIBUTES = [
  ...['size_slug', 'memory', 'vcpus', 'disk', 'locked', 'features', 'volume_ids', 'snapshot_ids'],
  ...['droplet_ids', 'size_gigabytes', 'description', 'inbound_rules', 'outbound_rules', 'num_nodes'],
  ...['regions', 'type', 'forwarding_rules', 'ip', 'ip_range', 'version', 'engine', 'size_unit', 'ttl'],
  ...['auto_upgrade', 'min_disk_size', 'public_key', 'tier_slug', 'resource_id'],
]

export function fieldsOf(kind: string, item: Item): Fields {
  const fields: Fields = {}
  const { status, tags, spec, name, ip, droplet_id } = item
  fields.name = kind === 'app' ? (spec as Item).name : kind === 'reserved_ip' ? ip : name
  if (kind === 'kubernetes_cluster') fields.status = (status as Item).state
  else if (['droplet', 'load_balancer', 'firewall', 'database', 'image'].includes(kind))
    fields.status = status
  if (['droplet', 'volume', 'snapshot', 'firewall', 'database', 'kubernetes_cluster'].includes(kind))
    fields.tags = plain(tags ?? [])
  for (const field of ATTRIBUTES)
    if (item[field] !== undefined && !(field === 'ip' && kind === 'reserved_ip'))
      fields[`attrs.${field}`] = plain(item[field])
  if (kind === 'database') fields['attrs.size'] = item.size
  if (kind === 'reserved_ip') fields['attrs.droplet'] = droplet_id === null ? null : { id: droplet_id }
  return fields
}

/** The same text for the same value, whatever the order of lists and members. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain).sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, plain(one)]),
  )
}
const textOf = (value: unknown) => JSON.stringify(value)
export const same = (a: unknown, b: unknown) => textOf(plain(a ?? null)) === textOf(plain(b ?? null))

export interface Truth {
  /** What is there now, by key. */
  now: Map<string, Fields>
  /** All that happened, by key. */
  changes: Map<string, Change[]>
  /** When what is gone went. */
  gone: Map<string, number>
}

/** From now on everything that happens to the world is written down, and told. */
export function watchWorld(world: World, clock: () => number, onChange: (change: Change) => void): Truth {
  const truth: Truth = { now: new Map(), changes: new Map(), gone: new Map() }
  /** Those of this moment: the action that made them is entered right after them. */
  let moment: Change[] = []
  const flush = (action: Action | null) => {
    for (const change of moment)
      onChange({ ...change, action: action && { id: action.id, type: String(action.type) } })
    moment = []
  }
  const note = (kind: string, id: string, after: Fields | null) => {
    const key = keyOf(kind, id)
    const before = truth.now.get(key)
    if (after && before && same(before, after)) return
    const change: Change = { kind, id, at: clock(), after, action: null }
    truth.changes.set(key, [...(truth.changes.get(key) ?? []), change])
    if (after) truth.now.set(key, after)
    else {
      truth.now.delete(key)
      truth.gone.set(key, change.at)
    }
    if (moment.length === 0) queueMicrotask(() => flush(null))
    moment.push(change)
  }
  for (const name of kindNames) {
    const shelf = shelfOf(world, name)
    const kind = mirrored(name)
    for (const item of shelf) truth.now.set(keyOf(kind, shelf.idOf(item)), fieldsOf(kind, item as Item))
    const { insert, replace, remove } = shelf
    const noted = (item: object) => {
      note(kind, shelf.idOf(item), fieldsOf(kind, item as Item))
      return item
    }
    shelf.insert = (item, place) => noted(insert.call(shelf, item, place))
    shelf.replace = item => noted(replace.call(shelf, item))
    shelf.remove = id => {
      const item = remove.call(shelf, id)
      if (item !== undefined) note(kind, id, null)
      return item
    }
  }
  const { insert, replace } = world.actions
  const ofAction = (action: Action) => {
    flush(action)
    return action
  }
  world.actions.insert = (action, place) => ofAction(insert.call(world.actions, action, place))
  world.actions.replace = action => ofAction(replace.call(world.actions, action))
  return truth
}
