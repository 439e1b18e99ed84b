// The provider's projects, what they hold, and the tags that tie resources to whoever made them.
import { type CallOptions, fillPath, getRequest, postRequest } from './client.ts'
import type { components } from './generated/api.d.ts'
import {
  collect,
  type Listing,
  type ListingParts,
  type ListOptions,
  openListing,
  type Source,
} from './listing.ts'
import { idAt, listAt, objectAt, type RawItem } from './responses.ts'

export type ProjectInput = Pick<
  components['schemas']['project'],
  'name' | 'description' | 'purpose' | 'environment'
> & { name: string; purpose: string }

export interface Assignment {
  urn: string
  /** `ok`, `assigned`, `already_assigned`, `not_found` or `service_down`. */
  status: string
}

export interface Projects {
  projects(options?: ListOptions): Promise<Listing>
  /** The items carry a `urn` each; see resourceOfUrn. */
  projectResources(projectId: string, options?: ListOptions): Promise<Listing>
  getDefaultProject(options?: CallOptions): Promise<RawItem>
  createProject(input: ProjectInput, options?: CallOptions): Promise<RawItem>
  assignToProject(projectId: string, urns: readonly string[], options?: CallOptions): Promise<Assignment[]>
  listTags(options?: ListOptions): Promise<Listing>
  createTag(name: string, options?: CallOptions): Promise<void>
}

export function createProjects(parts: ListingParts): Projects {
  const { client } = parts
  const list = (source: Omit<Source, 'paged'>, { onPage, ...options }: ListOptions = {}) =>
    collect(openListing(parts, [{ ...source, paged: true }], options), onPage)

  return {
    projects: options => list({ path: '/v2/projects', key: 'projects', idField: 'id' }, options),

    projectResources(projectId, options) {
      const path = fillPath('/v2/projects/{project_id}/resources', [projectId])
      return list({ path, key: 'resources', idField: 'urn' }, options)
    },

    async getDefaultProject(options) {
      const project = objectAt(await client.json(getRequest('/v2/projects/default'), options), 'project')
      idAt(project, 'id')
      return project
    },

    async createProject(input, options) {
      const project = objectAt(
        await client.json(postRequest('/v2/projects', input), options),
        'project',
        true,
      )
      idAt(project, 'id', true)
      return project
    },

    async assignToProject(projectId, urns, options) {
      const request = postRequest('/v2/projects/{project_id}/resources', { resources: [...urns] }, projectId)
      const assigned = listAt(await client.json(request, options), 'resources', true)
      return assigned.map(item => ({ urn: idAt(item, 'urn', true), status: String(item.status) }))
    },

    listTags: options => list({ path: '/v2/tags', key: 'tags', idField: 'name' }, options),

    async createTag(name, options) {
      objectAt(await client.json(postRequest('/v2/tags', { name }), options), 'tag', true)
    },
  }
}
