// Decides how firewalls are kept: waiting until the clock has passed the delay, then succeeded.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { buildFirewall } from '../world/network.ts'
import type { Firewall } from '../world/official.ts'
import { addResource, noteTags, schedule } from '../world/world.ts'
import { Body } from './body.ts'
import { conflict, notFound, unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import type { Provider } from './server.ts'

type Rules = Pick<Firewall, 'inbound_rules' | 'outbound_rules'>

export function firewallRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.firewall
  familyRoutes(app, provider, { kind: 'firewall', path: '/v2/firewalls', one: 'firewall', many: 'firewalls' })

  const read = (body: Body, id: string, createdAt: string): Firewall => {
    const name = body.text('name')
    if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]+$/.test(name)) throw unprocessable('invalid name')
    if (shelf.filter(other => other.name === name && other.id !== id).length > 0)
      throw conflict('duplicate name')
    const inbound = body.objects('inbound_rules')
    const outbound = body.objects('outbound_rules')
    if (inbound.length + outbound.length === 0) throw unprocessable('must have at least one rule')
    return buildFirewall({
      id,
      name,
      createdAt,
      status: 'waiting',
      dropletIds: body.wholes('droplet_ids'),
      tags: body.tags(),
      rules: { inbound_rules: inbound, outbound_rules: outbound } as Rules,
    })
  }
  const settleLater = (id: string) =>
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), () => {
      const firewall = shelf.get(id)
      if (firewall !== undefined) shelf.replace({ ...firewall, status: 'succeeded' })
    })

  app.post('/v2/firewalls', async (request, reply) => {
    const firewall = read(new Body(request), world.ids.uuid(), wholeSeconds(clock.now()))
    addResource(world, 'firewall', firewall, { now: clock.now() })
    settleLater(firewall.id)
    reply.code(202)
    return { firewall }
  })

  app.put<{ Params: { id: string } }>('/v2/firewalls/:id', async request => {
    const before = shelf.get(request.params.id)
    if (before === undefined) throw notFound()
    const firewall = shelf.replace(read(new Body(request), before.id, before.created_at!))
    noteTags(world, firewall)
    settleLater(firewall.id)
    return { firewall }
  })
}
