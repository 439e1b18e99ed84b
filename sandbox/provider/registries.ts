// Decides how container registries are shown: as a list without pages, and the first of them in the older
// single-registry form.
import type { FastifyInstance } from 'fastify'
import { notFound } from './errors.ts'
import type { Provider } from './server.ts'

export function registryRoutes(app: FastifyInstance, { world }: Provider): void {
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
