// Decides how domains are kept: by name, each name once.
import type { FastifyInstance } from 'fastify'
import { buildDomain } from '../world/network.ts'
import { addResource } from '../world/world.ts'
import { Body } from './body.ts'
import { unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import type { Provider } from './server.ts'

export function domainRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider
  familyRoutes(app, provider, { kind: 'domain', path: '/v2/domains', one: 'domain', many: 'domains' })

  app.post('/v2/domains', async (request, reply) => {
    const body = new Body(request)
    const name = body.text('name').toLowerCase()
    if (!/^([a-z0-9-]+\.)+[a-z]{2,}$/.test(name))
      throw unprocessable('Name Only valid hostname characters are allowed.')
    if (world.shelves.domain.get(name) !== undefined) throw unprocessable('Name already exists')
    const domain = addResource(world, 'domain', buildDomain(name, body.maybeText('ip_address')), {
      now: clock.now(),
    })
    reply.code(201)
    // The zone file is not there yet when the provider answers.
    return { domain: { ...domain, ttl: null, zone_file: null } }
  })
}
