// Decides how database clusters are kept: listed whole without pages, creating until the clock has passed
// the delay, and shown with their passwords and connection URIs, as the real provider shows them.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import { buildDatabase } from '../world/managed.ts'
import type { Database } from '../world/official.ts'
import { addResource, defaultProject, removeResource, schedule } from '../world/world.ts'
import { Body } from './body.ts'
import { notFound, unprocessable } from './errors.ts'
import { requireProject } from './projects.ts'
import type { Provider } from './server.ts'

const engines = ['pg', 'mysql', 'valkey', 'redis', 'mongodb', 'kafka', 'opensearch']

type WithId = { Params: { id: string } }

export function databaseRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.database
  const later = (id: string, change: (database: Database) => Database) =>
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), () => {
      const database = shelf.get(id)
      if (database !== undefined) shelf.replace(change(database))
    })
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
    later(database.id, current => ({ ...current, status: 'online' }))
    reply.code(201)
    return { database }
  })

  app.put<WithId>('/v2/databases/:id/resize', async (request, reply) => {
    const body = new Body(request)
    const size = body.text('size')
    const nodes = body.whole('num_nodes')
    shelf.replace({ ...find(request.params.id), status: 'resizing' })
    later(request.params.id, current => ({ ...current, status: 'online', size, num_nodes: nodes }))
    return reply.code(202).send()
  })

  app.delete<WithId>('/v2/databases/:id', async (request, reply) => {
    if (removeResource(world, 'database', request.params.id) === undefined) throw notFound()
    return reply.code(204).send()
  })
}
