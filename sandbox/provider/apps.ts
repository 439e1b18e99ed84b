// Decides how apps are kept: made from a spec, answered with 200 on create and delete alike, as the
// provider does.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { buildApp } from '../world/managed.ts'
import type { App } from '../world/official.ts'
import { addResource, defaultProject, removeResource } from '../world/world.ts'
import { Body } from './body.ts'
import { conflict, notFound, unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import { requireProject } from './projects.ts'
import type { Provider } from './server.ts'

export function appRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider
  const shelf = world.shelves.app
  familyRoutes(app, provider, {
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
