// The provider's projects and what each of them holds, read one after the other.
import {
  type Listing,
  type ListOptions,
  type Provider,
  resourceOfUrn,
} from '../../integrations/digitalocean/index.ts'
import { type SeenProject, seenProject } from './project.ts'
import type { Member } from './project-store.ts'
import { isStorableId } from './seen-resource.ts'

export interface ProjectList {
  project: SeenProject
  members: Member[]
  whole: boolean
}

export interface ProjectReading extends AsyncIterable<ProjectList> {
  /** The list of the projects themselves, pages of all lists, and why not all of it is whole; null when it is. */
  outcome(): { listing: Listing | null; pages: number; reason: string | null }
}

type Remarks = Parameters<typeof seenProject>[1]

export function readProjectLists(
  provider: Provider,
  options: Pick<ListOptions, 'signal' | 'counted'>,
  remarks?: Remarks,
): ProjectReading {
  let listing: Listing | null = null
  let pages = 0
  let reason: string | null = null

  async function* read(): AsyncGenerator<ProjectList> {
    listing = await provider.projects(options)
    pages += listing.pages
    reason = listing.reason
    for (const raw of listing.items) {
      const project = seenProject(raw, remarks)
      if (!project) continue
      const held = await provider.projectResources(project.provider_id, options)
      pages += held.pages
      reason ??= held.reason
      const members = held.items
        .map(item => resourceOfUrn(String(item.urn)))
        .filter(member => member !== null && isStorableId(member.provider_id)) as Member[]
      yield { project, members, whole: held.complete }
    }
  }

  const lists = read()
  return { [Symbol.asyncIterator]: () => lists, outcome: () => ({ listing, pages, reason }) }
}
