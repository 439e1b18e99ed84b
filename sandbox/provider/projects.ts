// Decides how projects are kept and what is in them: one of them is the default, every assignable resource
// is in exactly one, and assigning moves it.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { parseUrn } from '../world/kinds.ts'
import type { Project } from '../world/official.ts'
import {
  addProject,
  assign,
  defaultProject,
  project,
  projectOf,
  projectResource,
  type World,
} from '../world/world.ts'
import { Body } from './body.ts'
import { findDroplet } from './droplets.ts'
import { notFound, ProviderError, unprocessable } from './errors.ts'
import { listing } from './paging.ts'
import type { Provider } from './server.ts'

const environments = ['Development', 'Staging', 'Production'] as const

/** A project somebody named must exist; naming none is fine. */
export function requireProject(world: World, id: string | undefined): Project | undefined {
  if (id === undefined) return undefined
  const found = world.projects.get(id)
  if (found === undefined) throw unprocessable('project not found')
  return found
}

type WithId = { Params: { id: string } }

export function projectRoutes(app: FastifyInstance, { world, clock }: Provider): void {
  const find = (id: string): Project => {
    const found = id === 'default' ? defaultProject(world) : world.projects.get(id)
    if (found === undefined) throw notFound()
    return found
  }
  const environmentOf = (body: Body): Project['environment'] => {
    const word = body.maybeText('environment') ?? 'Production'
    const environment = environments.find(item => item === word)
    if (environment === undefined) throw unprocessable('environment is invalid')
    return environment
  }

  app.get('/v2/projects', async request => listing(request, 'projects', world.projects))

  app.get<WithId>('/v2/projects/:id', async request => ({ project: find(request.params.id) }))

  app.post('/v2/projects', async (request, reply) => {
    const body = new Body(request)
    const name = body.text('name')
    if (world.projects.filter(other => other.name === name).length > 0) {
      throw new ProviderError(409, 'name is already in use')
    }
    const made = project({
      id: world.ids.uuid(),
      name,
      description: body.maybeText('description') ?? '',
      purpose: body.text('purpose'),
      environment: environmentOf(body) ?? 'Production',
      createdAt: wholeSeconds(clock.now()),
    })
    reply.code(201)
    return { project: addProject(world, made) }
  })

  // PUT asks for every field, PATCH for those that change.
  app.put<WithId>('/v2/projects/:id', async request => {
    const body = new Body(request)
    for (const name of ['name', 'description', 'purpose', 'environment']) body.text(name)
    if (typeof body.fields.is_default !== 'boolean') throw unprocessable('is_default is required.')
    return { project: change(find(request.params.id), body) }
  })
  app.patch<WithId>('/v2/projects/:id', async request => ({
    project: change(find(request.params.id), new Body(request)),
  }))

  function change(before: Project, body: Body): Project {
    const after: Project = {
      ...before,
      name: body.maybeText('name') ?? before.name,
      description: body.maybeText('description') ?? before.description ?? '',
      purpose: body.maybeText('purpose') ?? before.purpose ?? '',
      environment: body.fields.environment === undefined ? before.environment : environmentOf(body),
      updated_at: wholeSeconds(clock.now()),
    } as Project
    if (body.flag('is_default') && !before.is_default) {
      world.projects.replace({ ...defaultProject(world), is_default: false })
      return world.projects.replace({ ...after, is_default: true })
    }
    return world.projects.replace(after)
  }

  app.delete<WithId>('/v2/projects/:id', async (request, reply) => {
    const { id, is_default: isDefault } = find(request.params.id)
    if (isDefault) throw new ProviderError(412, 'default projects cannot be deleted')
    if ((world.projectResources.get(id)?.size ?? 0) > 0) {
      throw new ProviderError(412, 'cannot delete a project with resources. Move or remove the resources.')
    }
    world.projects.remove(id)
    world.projectResources.delete(id)
    return reply.code(204).send()
  })

  app.get<WithId>('/v2/projects/:id/resources', async request =>
    listing(request, 'resources', world.projectResources.get(find(request.params.id).id)!),
  )

  app.post<WithId>('/v2/projects/:id/resources', async request => {
    const { id } = find(request.params.id)
    const urns = new Body(request).texts('resources')
    if (urns.length === 0) throw unprocessable('resources is required.')
    return { resources: urns.map(urn => assigned(urn, id)) }
  })

  function assigned(urn: string, projectId: string) {
    const now = clock.now()
    if (!exists(world, urn)) return { ...projectResource(urn, wholeSeconds(now)), status: 'not_found' }
    if (projectOf(world, urn) === projectId) {
      return { ...world.projectResources.get(projectId)!.get(urn)!, status: 'already_assigned' }
    }
    return { ...assign(world, urn, projectId, now), status: 'assigned' }
  }
}

function exists(world: World, urn: string): boolean {
  const spoken = parseUrn(urn)
  if (spoken === undefined) throw unprocessable(`${urn} is not a valid URN`)
  if (spoken.kind === 'droplet') return findDroplet(world, spoken.id) !== undefined
  return world.shelves[spoken.kind].get(spoken.id) !== undefined
}
