// Decides what of a world is written down so that another process can go on with it: every thing in the order it is listed,
// what is still to happen, and the counts that ids come from. Invoices follow from when the world began.
import type { Action, IdCounts, Items, Kind, Project, ProjectResource } from './kinds.ts'
import { kindNames } from './kinds.ts'
import { addProject, createWorld, shelfOf, type World, type WorldParts } from './world.ts'

/** Changes whenever this type or one in it does. */
export const KEPT_FORM = 1

export type KeptWorld = {
  startedAt: string
  ids: IdCounts
  resources: { [K in Kind]: Items[K][] }
  projects: { project: Project; resources: ProjectResource[] }[]
  actions: { action: Action; target: string | undefined }[]
  ordered: World['ordered']
  tags: string[]
  agenda: World['agenda']
}

export function writeWorld(world: World): KeptWorld {
  return {
    startedAt: world.startedAt.toISOString(),
    ids: world.ids.counts,
    resources: Object.fromEntries(
      kindNames.map(kind => [kind, [...world.shelves[kind]]]),
    ) as unknown as KeptWorld['resources'],
    projects: [...world.projects].map(project => ({
      project,
      resources: [...world.projectResources.get(project.id)!],
    })),
    actions: [...world.actions].map(action => ({ action, target: world.actionTargets.get(action.id) })),
    ordered: world.ordered,
    tags: [...world.tags],
    agenda: world.agenda,
  }
}

/** `partsOf` says what a world that began then has besides: its account and its invoices. */
export function readWorld(kept: KeptWorld, partsOf: (startedAt: Date) => WorldParts): World {
  const world = createWorld({ ...partsOf(new Date(kept.startedAt)), projects: [] })
  Object.assign(world.ids.counts, kept.ids)
  for (const kind of kindNames) for (const item of kept.resources[kind]) shelfOf(world, kind).insert(item)
  for (const { project, resources } of kept.projects) {
    addProject(world, project)
    for (const resource of resources) world.projectResources.get(project.id)!.insert(resource)
  }
  for (const { action, target } of kept.actions) {
    world.actions.insert(action)
    if (target !== undefined) world.actionTargets.set(action.id, target)
  }
  world.ordered.push(...kept.ordered)
  for (const tag of kept.tags) world.tags.add(tag)
  world.agenda.push(...kept.agenda)
  return world
}
