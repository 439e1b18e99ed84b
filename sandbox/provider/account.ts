// Decides what the account itself has: who it is, which regions and sizes there are, its projects, tags and SSH keys.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { regions } from '../world/catalogue.ts'
import { KINDS, type Kind, type Project, parseUrn } from '../world/kinds.ts'
import { buildSshKey } from '../world/network.ts'
import {
  addProject,
  addResource,
  assign,
  defaultProject,
  findDroplet,
  project,
  projectOf,
  projectResource,
  shelfOf,
  type World,
} from '../world/world.ts'
import { type ProviderContext, resourceRoutes } from './endpoints.ts'
import { ApiError, Body, checkTag, listing, notFound, pageable, unprocessable } from './protocol.ts'

export function accountRoutes(app: FastifyInstance, { world }: ProviderContext): void {
  app.get('/v2/account', async () => ({ account: world.account }))
  app.get('/v2/regions', async request => listing(request, 'regions', pageable(regions)))
  app.get('/v2/sizes', async request => listing(request, 'sizes', pageable(world.sizes)))
}

// Decides how projects are kept and what is in them: one of them is the default, every assignable resource
// is in exactly one, and assigning moves it.

const environments = ['Development', 'Staging', 'Production'] as const

/** A project somebody named must exist; naming none is fine. */
export function requireProject(world: World, id: string | undefined): Project | undefined {
  if (id === undefined) return undefined
  const found = world.projects.get(id)
  if (found === undefined) throw unprocessable('project not found')
  return found
}

type WithId = { Params: { id: string } }

export function projectRoutes(app: FastifyInstance, { world, clock }: ProviderContext): void {
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
      throw new ApiError(409, 'name is already in use')
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
    if (isDefault) throw new ApiError(412, 'default projects cannot be deleted')
    if ((world.projectResources.get(id)?.size ?? 0) > 0) {
      throw new ApiError(412, 'cannot delete a project with resources. Move or remove the resources.')
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

// Decides how tags are kept: a tag exists from its first mention until it is deleted, and counts what
// carries it now.

/** Under which word the provider counts a kind; `resource_type` in requests is the singular. */
const taggable = {
  droplets: ['droplet', 'gpu_droplet'],
  images: ['image'],
  volumes: ['volume'],
  volume_snapshots: ['snapshot'],
  databases: ['database'],
} as const satisfies Record<string, readonly Kind[]>

type Tagged = { tags?: string[] | null }

const carries = (item: object, tag: string) => (item as Tagged).tags?.includes(tag) ?? false

function show(world: World, name: string) {
  const entries = Object.entries(taggable).map(([word, kinds]) => {
    const uris = kinds.flatMap(kind =>
      shelfOf(world, kind)
        .filter(item => carries(item, name), { tag: name })
        .map(item => `https://api.digitalocean.com${KINDS[kind].path}/${shelfOf(world, kind).idOf(item)}`),
    )
    const last = uris.at(-1)
    return [word, { count: uris.length, ...(last === undefined ? {} : { last_tagged_uri: last }) }] as const
  })
  const count = entries.reduce((sum, [, entry]) => sum + entry.count, 0)
  return { name, resources: { count, ...Object.fromEntries(entries) } }
}

type WithTag = { Params: { tag: string } }

export function tagRoutes(app: FastifyInstance, { world }: ProviderContext): void {
  const require = (name: string) => {
    if (!world.tags.has(name)) throw notFound()
    return name
  }
  const retag = (kind: Kind, id: string, change: (tags: string[]) => string[]) => {
    const shelf = shelfOf(world, kind)
    const item = shelf.get(id)
    if (item !== undefined) shelf.replace({ ...item, tags: change((item as Tagged).tags ?? []) })
    return item !== undefined
  }

  app.get('/v2/tags', async request =>
    listing(request, 'tags', pageable([...world.tags].sort()), name => show(world, name)),
  )

  app.get<WithTag>('/v2/tags/:tag', async request => ({ tag: show(world, require(request.params.tag)) }))

  app.post('/v2/tags', async (request, reply) => {
    const name = new Body(request).text('name')
    checkTag(name)
    world.tags.add(name)
    reply.code(201)
    return { tag: show(world, name) }
  })

  app.delete<WithTag>('/v2/tags/:tag', async (request, reply) => {
    const name = require(request.params.tag)
    world.tags.delete(name)
    for (const kind of Object.values(taggable).flat()) {
      for (const item of shelfOf(world, kind).filter(each => carries(each, name), { tag: name })) {
        retag(kind, shelfOf(world, kind).idOf(item), tags => tags.filter(tag => tag !== name))
      }
    }
    return reply.code(204).send()
  })

  for (const method of ['POST', 'DELETE'] as const) {
    app.route<WithTag>({
      method,
      url: '/v2/tags/:tag/resources',
      async handler(request, reply) {
        const name = require(request.params.tag)
        for (const { resource_id: id, resource_type: type } of new Body(request).objects('resources')) {
          const kinds: readonly Kind[] | undefined = Object.entries(taggable).find(
            ([word]) => word === `${type}s`,
          )?.[1]
          if (kinds === undefined) throw unprocessable('resource_type is invalid.')
          const change = (tags: string[]) =>
            method === 'POST' ? [...new Set([...tags, name])] : tags.filter(tag => tag !== name)
          if (!kinds.some(kind => retag(kind, String(id), change))) throw notFound()
        }
        return reply.code(204).send()
      },
    })
  }
}

// Decides how SSH keys are kept: found by id or by fingerprint, and each public key only once.

export function sshKeyRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  const shelf = world.shelves.ssh_key
  const byFingerprint = (fingerprint: string) => shelf.filter(key => key.fingerprint === fingerprint)[0]

  resourceRoutes(app, provider, {
    kind: 'ssh_key',
    path: '/v2/account/keys',
    one: 'ssh_key',
    many: 'ssh_keys',
    find: id => shelf.get(id) ?? byFingerprint(id),
  })

  app.post('/v2/account/keys', async (request, reply) => {
    const body = new Body(request)
    const key = buildSshKey(world.ids.number(), body.text('name'), body.text('public_key'))
    if (!/^(ssh-|ecdsa-)\S+ \S+/.test(key.public_key))
      throw unprocessable('Key invalid, key should be of the format `ssh-rsa key`')
    if (byFingerprint(key.fingerprint!) !== undefined)
      throw unprocessable('SSH Key is already in use on your account')
    reply.code(201)
    return { ssh_key: addResource(world, 'ssh_key', key, { now: clock.now() }) }
  })
}
