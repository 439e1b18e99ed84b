// Decides what the simulated account holds and what follows from a change: a new resource lands in a
// project, a removed one leaves it, and what takes time happens once the clock has passed it.
import { wholeSeconds } from '../clock.ts'
import type { Billing } from './billing.ts'
import { findPublicImage, sizes } from './catalogue.ts'
import { Collection, type LazyBase } from './collection.ts'
import type { Account, Action, Droplet, Image, Project, ProjectResource, Size } from './kinds.ts'
import {
  createIds,
  type Ids,
  type Items,
  KINDS,
  type Kind,
  kindNames,
  namedUuid,
  parseUrn,
  urnOf,
} from './kinds.ts'

export type Shelves = { [K in Kind]: Collection<Items[K]> }

export type World = {
  readonly account: Account
  readonly shelves: Shelves
  readonly projects: Collection<Project>
  /** What each project holds, by project id. */
  readonly projectResources: Map<string, Collection<ProjectResource>>
  readonly actions: Collection<Action>
  /** Which resource an action was about; volumes have no numeric id to say it with. */
  readonly actionTargets: Map<number, string>
  /** Every droplet that was ever ordered, whatever became of it. */
  readonly ordered: { id: number; name: string; tags: string[]; at: string }[]
  /** Tags made on their own or in passing; the provider keeps them when the last resource is gone. */
  readonly tags: Set<string>
  readonly billing: Billing
  /** What is listed now; a price may change. */
  readonly sizes: Size[]
  readonly ids: Ids
  /** What is still to happen, and when. */
  readonly agenda: { at: number; effect: Effect }[]
  /** What each effect does, by its name. */
  readonly effects: Map<string, (given: never, now: Date) => Worked>
  readonly startedAt: Date
}

/** Something that happens later, as data: it can be written down, and happen after a restart. */
export type Effect = { name: string; given: unknown }
/** False when there was nothing left to work on. */
export type Worked = boolean | undefined

export type WorldParts = {
  startedAt: Date
  account: Account
  billing: Billing
  bases?: { [K in Kind]?: LazyBase<Items[K]> }
  projects: Project[]
  projectBases?: Map<string, LazyBase<ProjectResource>>
}

export function createWorld(parts: WorldParts): World {
  const bases: Partial<Record<Kind, unknown>> = parts.bases ?? {}
  const shelf = <K extends Kind>(kind: K) =>
    new Collection<Items[K]>(
      item => String((item as Record<string, unknown>)[KINDS[kind].idField]),
      bases[kind] as LazyBase<Items[K]> | undefined,
    )
  const world: World = {
    account: parts.account,
    shelves: Object.fromEntries(kindNames.map(kind => [kind, shelf(kind)])) as Shelves,
    projects: new Collection(project => project.id),
    projectResources: new Map(),
    actions: new Collection(action => String(action.id)),
    actionTargets: new Map(),
    ordered: [],
    tags: new Set(),
    billing: parts.billing,
    sizes: sizes.map(size => ({ ...size })),
    ids: createIds(parts.startedAt),
    agenda: [],
    effects: new Map(),
    startedAt: parts.startedAt,
  }
  for (const project of parts.projects) addProject(world, project, parts.projectBases?.get(project.id))
  return world
}

/** A shelf seen without its kind, for what treats all kinds alike. */
export function shelfOf(world: World, kind: Kind): Collection<object> {
  return world.shelves[kind] as unknown as Collection<object>
}

export function addProject(world: World, project: Project, base?: LazyBase<ProjectResource>): Project {
  world.projectResources.set(project.id, new Collection(resource => resource.urn, base))
  return world.projects.insert(project)
}

export function defaultProject(world: World): Project {
  for (const project of world.projects) if (project.is_default) return project
  throw new Error('a world without a default project')
}

/** Puts a resource on its shelf and, when its kind can be in one, into a project. */
export function addResource<K extends Kind>(
  world: World,
  kind: K,
  item: Items[K],
  where: { projectId?: string; now: Date; place?: 'first' | 'last' },
): Items[K] {
  world.shelves[kind].insert(item, where.place)
  noteTags(world, item)
  const urn = urnOf(kind, world.shelves[kind].idOf(item))
  if (urn !== undefined) assign(world, urn, where.projectId ?? defaultProject(world).id, where.now)
  return item
}

/** Takes a resource away everywhere it is mentioned as belonging somewhere. */
export function removeResource<K extends Kind>(world: World, kind: K, id: string): Items[K] | undefined {
  const item = world.shelves[kind].remove(id)
  const urn = urnOf(kind, id)
  if (item !== undefined && urn !== undefined) {
    for (const resources of world.projectResources.values()) resources.remove(urn)
  }
  return item
}

export function projectOf(world: World, urn: string): string | undefined {
  for (const [projectId, resources] of world.projectResources) {
    if (resources.get(urn) !== undefined) return projectId
  }
  return undefined
}

/** A resource is in one project at a time: assigning it moves it. */
export function assign(world: World, urn: string, projectId: string, now: Date): ProjectResource {
  for (const resources of world.projectResources.values()) resources.remove(urn)
  const resources = world.projectResources.get(projectId)
  if (resources === undefined) throw new Error(`no project ${projectId}`)
  followProject(world, urn, projectId)
  return resources.insert(projectResource(urn, wholeSeconds(now)))
}

/** Some kinds name their project themselves; that must not contradict the project's own list. */
function followProject(world: World, urn: string, projectId: string): void {
  const spoken = parseUrn(urn)
  if (spoken === undefined) return
  const shelf = shelfOf(world, spoken.kind)
  const item = shelf.get(spoken.id)
  if (item !== undefined && 'project_id' in item && item.project_id !== projectId) {
    shelf.replace({ ...item, project_id: projectId })
  }
}

export function projectResource(urn: string, assignedAt: string): ProjectResource {
  const [, type, ...id] = urn.split(':')
  const kind = kindNames.find(name => (KINDS[name] as { urn?: string }).urn === type)
  const path = kind === undefined ? `/v2/${type}s` : KINDS[kind].path
  return {
    urn,
    assigned_at: assignedAt,
    links: { self: `https://api.digitalocean.com${path}/${encodeURIComponent(id.join(':'))}` },
    status: 'ok',
  }
}

export function noteTags(world: World, item: object): void {
  const tags = (item as { tags?: unknown }).tags
  if (Array.isArray(tags)) for (const tag of tags) world.tags.add(String(tag))
}

/** Says what an effect does. What it is given must be plain JSON. */
export function defineEffect<T>(
  world: World,
  name: string,
  happen: (given: T, now: Date) => Worked,
): (given: T) => Effect {
  world.effects.set(name, happen)
  return given => ({ name, given })
}

export function takeEffect(world: World, { name, given }: Effect, now: Date): Worked {
  const happen = world.effects.get(name)
  return happen === undefined ? false : happen(given as never, now)
}

export function schedule(world: World, at: Date, effect: Effect): void {
  world.agenda.push({ at: at.getTime(), effect })
  world.agenda.sort((a, b) => a.at - b.at)
}

/** Lets everything happen whose time has come. Called before each request is answered. */
export function runDue(world: World, now: Date): void {
  while (world.agenda.length > 0 && world.agenda[0]!.at <= now.getTime()) {
    const due = world.agenda.shift()!
    takeEffect(world, due.effect, new Date(due.at))
  }
}

/** An id that no item of this kind has yet, in the form the kind uses. */
export function freshId(world: World, kind: Kind): string | number {
  switch (kind) {
    case 'droplet':
    case 'gpu_droplet':
    case 'image':
    case 'ssh_key':
      return world.ids.number()
    case 'reserved_ip':
      return world.ids.ipv4()
    case 'reserved_ipv6':
      return world.ids.ipv6()
    case 'domain':
      return `new-${world.ids.number()}.example`
    case 'registry':
      return `new-${world.ids.number()}`
    default:
      return world.ids.uuid()
  }
}

export function project(fields: {
  name: string
  description: string
  purpose: string
  environment: 'Development' | 'Staging' | 'Production'
  isDefault?: boolean
  createdAt: string
  id?: string
}): Project {
  return {
    id: fields.id ?? namedUuid(`project:${fields.name}`),
    owner_uuid: namedUuid('team').replaceAll('-', ''),
    owner_id: 258_992,
    name: fields.name,
    description: fields.description,
    purpose: fields.purpose,
    environment: fields.environment,
    is_default: fields.isDefault ?? false,
    created_at: fields.createdAt,
    updated_at: fields.createdAt,
  }
}

// Droplets, plain and GPU, and what holds on to them.

type DropletKind = 'droplet' | 'gpu_droplet'

export function findDroplet(
  world: World,
  id: string | number,
): { kind: DropletKind; droplet: Droplet } | undefined {
  for (const kind of ['droplet', 'gpu_droplet'] as const) {
    const droplet = world.shelves[kind].get(String(id))
    if (droplet !== undefined) return { kind, droplet }
  }
  return undefined
}

export function replaceDroplet(world: World, droplet: Droplet): boolean {
  const found = findDroplet(world, droplet.id)
  if (found !== undefined) world.shelves[found.kind].replace(droplet)
  return found !== undefined
}

/** Everything that held on to a droplet lets go of it. */
export function destroyDroplet(world: World, kind: DropletKind, id: number): void {
  removeResource(world, kind, String(id))
  detachEverywhere(world, id)
  const { reserved_ip, reserved_ipv6, firewall, load_balancer } = world.shelves
  for (const reserved of reserved_ip.filter(item => item.droplet_id === id)) {
    reserved_ip.replace({ ...reserved, droplet_id: null })
  }
  for (const reserved of reserved_ipv6.filter(item => item.droplet_id === id)) {
    reserved_ipv6.replace({ ...reserved, droplet_id: null })
  }
  const others = (ids: readonly number[] | null | undefined) => (ids ?? []).filter(other => other !== id)
  for (const wall of firewall.filter(item => item.droplet_ids?.includes(id) ?? false)) {
    firewall.replace({ ...wall, droplet_ids: others(wall.droplet_ids) })
  }
  for (const balancer of load_balancer.filter(item => item.droplet_ids?.includes(id) ?? false)) {
    load_balancer.replace({ ...balancer, droplet_ids: others(balancer.droplet_ids) })
  }
}

export function findImage(world: World, word: string | number): Image | undefined {
  return findPublicImage(String(word)) ?? world.shelves.image.get(String(word))
}

export function attachVolume(world: World, volumeId: string, dropletId: number): boolean {
  const volume = world.shelves.volume.get(volumeId)
  const droplet = findDroplet(world, dropletId)?.droplet
  if (volume === undefined || droplet === undefined) return false
  world.shelves.volume.replace({ ...volume, droplet_ids: [dropletId] })
  return replaceDroplet(world, { ...droplet, volume_ids: [...new Set([...droplet.volume_ids, volumeId])] })
}

function detachEverywhere(world: World, dropletId: number): void {
  const { volume } = world.shelves
  for (const item of volume.filter(each => each.droplet_ids?.includes(dropletId) ?? false)) {
    volume.replace({ ...item, droplet_ids: [] })
  }
}

export function detachVolume(world: World, volumeId: string, dropletId: number): boolean {
  const volume = world.shelves.volume.get(volumeId)
  if (volume === undefined) return false
  world.shelves.volume.replace({ ...volume, droplet_ids: [] })
  const droplet = findDroplet(world, dropletId)?.droplet
  if (droplet === undefined) return true
  return replaceDroplet(world, { ...droplet, volume_ids: droplet.volume_ids.filter(id => id !== volumeId) })
}
