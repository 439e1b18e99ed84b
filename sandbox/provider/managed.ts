// Decides how managed services are kept: apps, databases, Kubernetes clusters and container registries.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import type { App, Database } from '../world/kinds.ts'
import { buildApp, buildCluster, buildDatabase } from '../world/managed.ts'
import { addResource, defaultProject, defineEffect, removeResource, schedule } from '../world/world.ts'
import { requireProject } from './account.ts'
import { type ProviderContext, resourceRoutes } from './endpoints.ts'
import { Body, conflict, notFound, unprocessable } from './protocol.ts'

// Decides how apps are kept: made from a spec, answered with 200 on create and delete alike, as the
// provider does.

export function appRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  const shelf = world.shelves.app
  resourceRoutes(app, provider, {
    kind: 'app',
    path: '/v2/apps',
    one: 'app',
    many: 'apps',
    beforeDelete: false,
  })

  app.post('/v2/apps', async request => {
    const body = new Body(request)
    const spec = body.fields.spec as App['spec'] | undefined
    if (typeof spec !== 'object' || spec === null) throw unprocessable('spec is required.')
    if (!/^[a-z][a-z0-9-]{0,30}[a-z0-9]$/.test(String(spec.name)))
      throw unprocessable('spec.name is invalid.')
    if (shelf.filter(other => other.spec.name === spec.name).length > 0)
      throw conflict('app with that name exists')
    const projectId = requireProject(world, body.maybeText('project_id'))?.id ?? defaultProject(world).id
    const made = buildApp({
      id: world.ids.uuid(),
      name: spec.name,
      region: 'nyc',
      createdAt: wholeSeconds(clock.now()),
      projectId,
      spec,
    })
    return { app: addResource(world, 'app', made, { projectId, now: clock.now() }) }
  })

  app.delete<{ Params: { id: string } }>('/v2/apps/:id', async request => {
    if (removeResource(world, 'app', request.params.id) === undefined) throw notFound()
    return { id: request.params.id }
  })
}

// Decides how database clusters are kept: listed whole without pages, creating until the clock has passed
// the delay, and shown with their passwords and connection URIs, as the real provider shows them.

const engines = ['pg', 'mysql', 'valkey', 'redis', 'mongodb', 'kafka', 'opensearch']

type WithId = { Params: { id: string } }

export function databaseRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.database
  type Change = Pick<Database, 'status'> & Partial<Pick<Database, 'size' | 'num_nodes'>>
  const change = defineEffect(world, 'database changes', (given: { id: string; change: Change }) => {
    const database = shelf.get(given.id)
    if (database !== undefined) shelf.replace({ ...database, ...given.change })
    return database !== undefined
  })
  const later = (id: string, changed: Change) =>
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), change({ id, change: changed }))
  const find = (id: string) => {
    const database = shelf.get(id)
    if (database === undefined) throw notFound()
    return database
  }

  app.get<{ Querystring: { tag_name?: string } }>('/v2/databases', async request => {
    const tag = request.query.tag_name
    return {
      databases: tag === undefined ? [...shelf] : shelf.filter(item => item.tags?.includes(tag) ?? false),
    }
  })

  app.get<WithId>('/v2/databases/:id', async request => ({ database: find(request.params.id) }))

  app.post('/v2/databases', async (request, reply) => {
    const body = new Body(request)
    const engine = body.text('engine')
    if (!engines.includes(engine)) throw unprocessable('invalid engine')
    const region = body.text('region')
    if (findRegion(region) === undefined) throw unprocessable('invalid region')
    const projectId = requireProject(world, body.maybeText('project_id'))?.id ?? defaultProject(world).id
    const database = buildDatabase({
      id: world.ids.uuid(),
      name: body.text('name'),
      engine: engine as Database['engine'],
      version: body.maybeText('version') ?? '17',
      size: body.text('size'),
      region,
      nodes: body.whole('num_nodes'),
      createdAt: wholeSeconds(clock.now()),
      projectId,
      status: 'creating',
      tags: body.tags(),
    })
    addResource(world, 'database', database, { projectId, now: clock.now() })
    later(database.id, { status: 'online' })
    reply.code(201)
    return { database }
  })

  app.put<WithId>('/v2/databases/:id/resize', async (request, reply) => {
    const body = new Body(request)
    const size = body.text('size')
    const nodes = body.whole('num_nodes')
    shelf.replace({ ...find(request.params.id), status: 'resizing' })
    later(request.params.id, { status: 'online', size, num_nodes: nodes })
    return reply.code(202).send()
  })

  app.delete<WithId>('/v2/databases/:id', async (request, reply) => {
    if (removeResource(world, 'database', request.params.id) === undefined) throw notFound()
    return reply.code(204).send()
  })
}

// Decides how Kubernetes clusters are kept: provisioning until the clock has passed the delay, then running.

export function kubernetesRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.kubernetes_cluster
  const run = defineEffect(world, 'cluster runs', (fields: Parameters<typeof buildCluster>[0]) => {
    if (shelf.get(fields.id) === undefined) return false
    shelf.replace(buildCluster(fields))
    return true
  })
  resourceRoutes(app, provider, {
    kind: 'kubernetes_cluster',
    path: '/v2/kubernetes/clusters',
    one: 'kubernetes_cluster',
    many: 'kubernetes_clusters',
  })

  app.post('/v2/kubernetes/clusters', async (request, reply) => {
    const body = new Body(request)
    const region = body.text('region')
    if (findRegion(region) === undefined) throw unprocessable('invalid region')
    const pools = body.objects('node_pools').map(pool => ({
      name: String(pool.name),
      size: String(pool.size),
      count: Number(pool.count),
    }))
    if (pools.length === 0) throw unprocessable('must have at least one node pool')
    const fields = {
      id: world.ids.uuid(),
      name: body.text('name'),
      region,
      version: body.text('version'),
      createdAt: wholeSeconds(clock.now()),
      tags: body.tags(),
      pools,
    }
    const cluster = buildCluster({ ...fields, state: 'provisioning' })
    addResource(world, 'kubernetes_cluster', cluster, { now: clock.now() })
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), run(fields))
    reply.code(201)
    return { kubernetes_cluster: cluster }
  })
}

// Decides how container registries are shown: as a list without pages, and the first of them in the older
// single-registry form.

export function registryRoutes(app: FastifyInstance, { world }: ProviderContext): void {
  const shelf = world.shelves.registry
  app.get('/v2/registries', async () => ({ registries: [...shelf] }))

  app.get<{ Params: { name: string } }>('/v2/registries/:name', async request => {
    const registry = shelf.get(request.params.name)
    if (registry === undefined) throw notFound()
    return { registry }
  })

  app.get('/v2/registry', async () => {
    const registry = shelf.at(0)
    if (registry === undefined) throw notFound()
    return { registry }
  })
}
